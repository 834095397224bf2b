import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { create, toBinary } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import { Refused, play } from "../src/client.js";
import type { Bot } from "../src/client.js";
import { PlayResponseSchema, TurnKind } from "../src/gen/referee/v1/play_pb.js";
import type { Move, NoticeCode, PlayRequest } from "../src/gen/referee/v1/play_pb.js";
import { FakeReferee } from "./fake_referee.js";
import type { FakeStream, Response } from "./fake_referee.js";

type Events = NonNullable<Response["events"]>;

const first: Bot = () => (turn) => turn.legalPlays[0]?.cards ?? null;

function started(session: number): Events[number] {
  return {
    event: {
      case: "sessionStarted",
      value: { session, sessionId: `m/${session}`, ruleset: "{}", seats: ["a", "b"] },
    },
  };
}

function turn(
  session: number,
  fields: { kind?: number; canPass?: boolean; sequence?: number } = {},
): Events[number] {
  const value = { session, sequence: 1, kind: TurnKind.PLAY, legalPlays: [{ cards: [session] }], ...fields };
  return { event: { case: "turn", value } };
}

function answers(request: PlayRequest | undefined): unknown[] {
  return (request?.moves ?? []).map(({ session, sequence, cards, passes }: Move) => [
    session,
    sequence,
    passes ? "pass" : [...cards],
  ]);
}

/** Plays against a script of a referee until the script has gone through; gives the script's value. */
async function against<T>(script: (stream: FakeStream) => Promise<T>, bot: Bot = first): Promise<T> {
  return afterStreams([], script, bot);
}

/** The same, after streams that go another way. */
async function afterStreams<T>(
  before: ((stream: FakeStream) => Promise<void>)[],
  script: (stream: FakeStream) => Promise<T>,
  bot: Bot = first,
  log: (line: string) => void = () => undefined,
): Promise<T> {
  const leaving = new AbortController();
  let done: (value: T | Promise<T>) => void = () => undefined;
  const value = new Promise<T>((resolve) => (done = resolve));
  const [referee, address] = await FakeReferee.start(...before, async (stream) => {
    done(script(stream));
    await value;
    leaving.abort();
    while ((await stream.read()) !== undefined);
    stream.end();
  });
  try {
    await play({ bot, token: "secret", addresses: [address], signal: leaving.signal, log });
    return await value;
  } finally {
    referee.stop();
  }
}

const patient = { timeout: 20_000 };

test("hello asks for listed plays and carries the token", patient, async () => {
  const { hello } = await against((stream) => stream.welcome());
  assert.equal(hello?.token, "secret");
  assert.equal(hello?.protocolVersion, 1);
  assert.equal(hello?.listLegalPlays, true);
});

test("turns of one message are answered in one message", patient, async () => {
  const request = await against(async (stream) => {
    await stream.welcome();
    stream.send({ events: [started(1), started(2), turn(1), turn(2)] });
    return stream.read();
  });
  assert.deepEqual(answers(request), [
    [1, 1, [1]],
    [2, 1, [2]],
  ]);
});

test("answers stay under the size that the referee accepts", patient, async () => {
  const requests = await against(async (stream) => {
    await stream.welcome([], 128);
    stream.send({ events: [started(1), started(2), turn(1), turn(2)] });
    return [await stream.read(), await stream.read()];
  });
  assert.deepEqual(requests.map(answers), [[[1, 1, [1]]], [[2, 1, [2]]]]);
});

test("a slow answer holds up neither other sessions nor pings", patient, async () => {
  let decide: () => void = () => undefined;
  const decided = new Promise<void>((resolve) => (decide = resolve));
  const bot: Bot = (session) => async () => {
    if (session.id === "m/1") await decided;
    return [1];
  };
  const [other, pong, slow] = await against(async (stream) => {
    await stream.welcome();
    stream.send({ events: [started(1), started(2), turn(1), turn(2)] });
    const other = await stream.read();
    stream.send({ ping: { id: 5 } });
    const pong = await stream.read();
    decide();
    return [other, pong, await stream.read()];
  }, bot);
  assert.deepEqual(answers(other), [[2, 1, [1]]]);
  assert.equal(pong?.pong?.id, 5);
  assert.deepEqual(answers(slow), [[1, 1, [1]]]);
});

test("a ping is answered before a strategy that keeps the thread is asked", patient, async () => {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL("pinging_referee.js", import.meta.url), { workerData: flag });
  const leaving = new AbortController();
  let waited = "";
  try {
    const [address] = (await once(worker, "message")) as [string];
    const bot: Bot = () => () => {
      waited = Atomics.wait(flag, 0, 0, 10_000);
      return null;
    };
    const playing = play({ bot, token: "t", addresses: [address], signal: leaving.signal });
    await once(worker, "message");
    leaving.abort();
    await worker.terminate();
    await playing;
  } finally {
    await worker.terminate();
  }
  assert.notEqual(waited, "");
  assert.notEqual(waited, "timed-out");
});

test("what the bot does not know is passed over, or answered in the plainest way", patient, async () => {
  const asked: number[] = [];
  const bot: Bot =
    () =>
    ({ kind }) => {
      asked.push(kind);
      return null;
    };
  const request = await against(async (stream) => {
    await stream.welcome();
    const known = toBinary(
      PlayResponseSchema,
      create(PlayResponseSchema, {
        events: [
          started(1),
          started(2),
          turn(1, { kind: 99 }),
          turn(2, { kind: 99, canPass: true }),
          turn(3),
        ],
      }),
    );
    const notice = toBinary(
      PlayResponseSchema,
      create(PlayResponseSchema, {
        events: [{ event: { case: "notice", value: { code: 99 as NoticeCode, text: "new" } } }],
      }),
    );
    // An event of kind 100, then a field 50 of the message, both of them text.
    const unknown = [0x12, 0x06, 0xa2, 0x06, 0x03, 0x6e, 0x65, 0x77, 0x92, 0x03, 0x03, 0x6e, 0x65, 0x77];
    stream.sendBytes(Uint8Array.from([...notice, ...unknown, ...known]));
    return stream.read();
  }, bot);
  assert.deepEqual(answers(request), [
    [1, 1, [1]],
    [2, 1, "pass"],
    [3, 1, [3]],
  ]);
  assert.deepEqual(asked, []);
});

test("a strategy that fails is answered for, and the log says why", patient, async () => {
  const lines: string[] = [];
  const bot: Bot = (session) => {
    if (session.id === "m/3") throw new Error("no such session");
    return (asked) => {
      if (asked.session === 1) throw new Error("no idea");
      return Promise.reject(new Error("no time"));
    };
  };
  const request = await afterStreams(
    [],
    async (stream) => {
      await stream.welcome();
      stream.send({ events: [started(1), turn(1)] });
      const one = answers(await stream.read());
      stream.send({ events: [started(2), turn(2, { canPass: true })] });
      const two = answers(await stream.read());
      stream.send({ events: [started(3), turn(3)] });
      return [...one, ...two, ...answers(await stream.read())];
    },
    bot,
    (line) => lines.push(line),
  );
  assert.deepEqual(request, [
    [1, 1, [1]],
    [2, 1, "pass"],
    [3, 1, [3]],
  ]);
  for (const reason of ["no idea", "no time", "no such session"])
    assert.match(lines.join("\n"), new RegExp(reason));
});

test("a lost stream is opened again, and the session resumed", patient, async () => {
  const request = await afterStreams(
    [
      async (stream) => {
        await stream.welcome();
        stream.send({ events: [started(1), turn(1)] });
        await stream.read();
        stream.fail(status.UNAVAILABLE, "restarting");
      },
      async (stream) => stream.fail(status.ALREADY_EXISTS, "a live connection already"),
      async (stream) => stream.fail(status.RESOURCE_EXHAUSTED, "a flood"),
    ],
    async (stream) => {
      await stream.welcome();
      stream.send({ events: [started(1), turn(1, { sequence: 2 })] });
      return stream.read();
    },
  );
  assert.deepEqual(answers(request), [[1, 2, [1]]]);
});

for (const code of [
  status.UNAUTHENTICATED,
  status.PERMISSION_DENIED,
  status.FAILED_PRECONDITION,
  status.INVALID_ARGUMENT,
]) {
  test(`${status[code]} is final`, patient, async () => {
    const [referee, address] = await FakeReferee.start(async (stream) => stream.fail(code, "not you"));
    const [other, second] = await FakeReferee.start(async (stream) => {
      await stream.welcome();
      while ((await stream.read()) !== undefined);
      stream.end();
    });
    try {
      const signal = new AbortController().signal;
      await assert.rejects(
        play({ bot: first, token: "t", addresses: [second, address], signal }),
        (error: Error) => {
          assert(error instanceof Refused);
          assert.equal(error.message, `referee ${address}: ${status[code]}: not you`);
          return true;
        },
      );
      assert.equal(referee.streams, 1);
    } finally {
      referee.stop();
      other.stop();
    }
  });
}

test("a bot opens a stream to each referee of the welcome", patient, async () => {
  const leaving = new AbortController();
  const [other, second] = await FakeReferee.start(async (stream) => {
    await stream.welcome();
    leaving.abort();
    while ((await stream.read()) !== undefined);
    stream.end();
  });
  const [referee, address] = await FakeReferee.start(async (stream) => {
    await stream.welcome([address, second]);
    while ((await stream.read()) !== undefined);
    stream.end();
  });
  try {
    await play({ bot: first, token: "t", addresses: [address], signal: leaving.signal });
    assert.deepEqual([referee.streams, other.streams], [1, 1]);
  } finally {
    referee.stop();
    other.stop();
  }
});

/** Plays at these addresses until `during` has gone through; gives what the bot logged. */
async function playing(
  addresses: string[],
  during: (logged: (text: string) => Promise<string>) => Promise<void>,
): Promise<string[]> {
  const leaving = new AbortController();
  const lines: string[] = [];
  const waiting: (() => void)[] = [];
  const log = (line: string): void => {
    lines.push(line);
    for (const wake of waiting.splice(0)) wake();
  };
  /** Waits for a line with this text. */
  const logged = async (text: string): Promise<string> => {
    for (;;) {
      const found = lines.find((line) => line.includes(text));
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };
  const played = play({ bot: first, token: "t", addresses, signal: leaving.signal, log });
  try {
    await during(logged);
  } finally {
    leaving.abort();
    await played;
  }
  return lines;
}

/** Something that happens once. */
class Happening {
  happens: () => void = () => undefined;
  readonly happened = new Promise<void>((resolve) => (this.happens = resolve));
}

/** The bot stays until it leaves, and answers a turn when `asked` has happened. */
async function stay(stream: FakeStream, answered: Happening, asked = Promise.resolve()): Promise<void> {
  await asked;
  stream.send({ events: [started(1), turn(1)] });
  assert.deepEqual(answers(await stream.read()), [[1, 1, [1]]]);
  answered.happens();
  while ((await stream.read()) !== undefined);
  stream.end();
}

function local(address: string): string {
  return address.replace("127.0.0.1", "localhost");
}

test("a referee that is listed with another address gets one stream", patient, async () => {
  const [here, there] = [new Happening(), new Happening()];
  const [other, second] = await FakeReferee.start(async (stream) => {
    await stream.welcome([address, second], undefined, second);
    await stay(stream, there);
  });
  const [referee, address] = await FakeReferee.start(async (stream) => {
    await stream.welcome([address, second], undefined, address);
    await stay(stream, here, there.happened);
  });
  try {
    await playing([local(address)], async () => here.happened);
    assert.deepEqual([referee.streams, other.streams], [1, 1]);
  } finally {
    referee.stop();
    other.stop();
  }
});

for (const [name, entryOf] of [
  ["the one is listed", (address: string) => address],
  ["the other one is listed", local],
  ["none of them is listed", () => "arena.example.org:8710"],
] as const) {
  test(`one of two addresses of a referee is given up where ${name}`, patient, async () => {
    const [welcomed, answered, givenUp] = [new Happening(), new Happening(), new Happening()];
    const [referee, address] = await FakeReferee.start(
      async (stream) => {
        const entry = entryOf(address);
        await stream.welcome([entry], undefined, entry);
        stream.send({ ping: { id: 1 } });
        await stream.read();
        welcomed.happens(); // to the bot, which has answered
        await stay(stream, answered, givenUp.happened);
      },
      async (stream) => {
        await welcomed.happened;
        stream.refuseAt(entryOf(address));
      },
    );
    try {
      await playing([address, local(address)], async (logged) => {
        await logged("not needed, the bot is connected to it at");
        givenUp.happens();
        await answered.happened;
      });
      assert.equal(referee.streams, 2);
    } finally {
      referee.stop();
    }
  });
}

test("a listed address that leads nowhere is given up when another one leads there", patient, async () => {
  const nowhere = "127.0.0.1:1";
  const answered = new Happening();
  const [referee, address] = await FakeReferee.start(async (stream) => {
    await stream.welcome([nowhere], undefined, nowhere);
    await stay(stream, answered);
  });
  try {
    await playing([nowhere, address], async (logged) => {
      const line = await logged("not needed");
      assert.equal(line, `referee ${nowhere}: not needed, the bot is connected to it at ${address}`);
      await answered.happened;
    });
  } finally {
    referee.stop();
  }
});

test("a bot whose address leads to another referee goes to the listed address", patient, async () => {
  const [here, there] = [new Happening(), new Happening()];
  const list = (): string[] => [address, second];
  const [referee, address] = await FakeReferee.start(async (stream) => {
    await stream.welcome(list(), undefined, address);
    await stay(stream, here);
  });
  const [other, second] = await FakeReferee.start(async (stream) => {
    await stream.welcome(list(), undefined, second);
    await stay(stream, there);
  });
  const [gateway, shared] = await FakeReferee.start(
    async (stream) => {
      await stream.welcome(list(), undefined, address);
      await there.happened;
      stream.fail(status.UNAVAILABLE, "restarting");
    },
    async (stream) => stream.refuseAt(second),
  );
  try {
    const lines = await playing([shared], async () => here.happened);
    assert.deepEqual(
      lines.filter((line) => line.includes("not needed")),
      [`referee ${shared}: not needed, the bot is connected to it at ${second}`],
    );
    assert.deepEqual([gateway.streams, referee.streams, other.streams], [2, 1, 1]);
  } finally {
    for (const each of [referee, other, gateway]) each.stop();
  }
});

test("a bot that is connected by another process of it tries again", patient, async () => {
  const [here, there] = [new Happening(), new Happening()];
  const [other, second] = await FakeReferee.start(async (stream) => {
    await stream.welcome([address, second], undefined, second);
    await stay(stream, there);
  });
  const [referee, address] = await FakeReferee.start(
    async (stream) => {
      await there.happened;
      stream.refuseAt(address);
    },
    async (stream) => {
      await stream.welcome([address, second], undefined, address);
      await stay(stream, here);
    },
  );
  try {
    await playing([second, address], async () => here.happened);
    assert.deepEqual([referee.streams, other.streams], [2, 1]);
  } finally {
    referee.stop();
    other.stop();
  }
});

test("a bot that leaves says goodbye and ends the stream", patient, async () => {
  const leaving = new AbortController();
  const said: (PlayRequest | undefined)[] = [];
  let brokenOff = true;
  const [referee, address] = await FakeReferee.start(async (stream) => {
    await stream.welcome();
    stream.send({ events: [started(1), turn(1)] });
    await stream.read();
    leaving.abort();
    said.push(await stream.read(), await stream.read());
    brokenOff = stream.cancelled;
    stream.end();
  });
  try {
    await play({ bot: first, token: "t", addresses: [address], signal: leaving.signal });
  } finally {
    referee.stop();
  }
  assert.deepEqual(
    said.map((request) => request?.goodbye !== undefined),
    [true, false],
  );
  assert.equal(said[1], undefined);
  assert.equal(brokenOff, false);
});

test("a bot that cannot reach its referee can still be told to leave", patient, async () => {
  const leaving = new AbortController();
  const log = (): void => leaving.abort();
  await play({ bot: first, token: "t", addresses: ["127.0.0.1:1"], signal: leaving.signal, log });
  assert(leaving.signal.aborted);
});
