import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { create, toBinary } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { status } from "@grpc/grpc-js";
import { Refused, play } from "../src/client.js";
import type { Bot } from "../src/client.js";
import { PlayResponseSchema } from "../src/gen/referee/v1/bots_pb.js";
import type { NoticeCode } from "../src/gen/referee/v1/bots_pb.js";
import { FakeReferee } from "./fake_referee.js";
import type { FakeStream } from "./fake_referee.js";
import { afterStreams, against, answers, first, never, patient, started, turn } from "./playing.js";

test("hello asks for listed plays, and the metadata carry the token", patient, async () => {
  const [authorization, { hello }] = await against(async (stream) => [
    stream.authorization,
    await stream.welcome(),
  ]);
  assert.equal(authorization, "Bearer secret");
  assert.equal(hello?.protocolVersion, 1);
  assert.equal(hello?.wants?.legalPlays, true);
  assert.equal(hello?.maxSessions, undefined);
});

test("turns of one message are answered together, or in a few messages where the machine is busy", patient, async () => {
  const sessions = Array.from({ length: 32 }, (_, place) => place + 1);
  const requests = await against(async (stream) => {
    await stream.welcome();
    stream.send({ events: [...sessions.map(started), ...sessions.map((session) => turn(session))] });
    const read = [];
    while (read.flatMap(answers).length < sessions.length) read.push(await stream.read());
    return read;
  });
  const expected = sessions.map((session) => [session, 1, [session]]);
  assert.deepEqual(requests.flatMap(answers), expected);
  assert.ok(requests.length <= 8, `${requests.length} messages`);
});

test("answers stay under the size that the referee accepts", patient, async () => {
  const requests = await against(async (stream) => {
    await stream.welcome("a", {}, { maxMessageBytes: 60 });
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
    const playing = play({ bot, token: "t", addresses: [address], finish: never, leave: leaving.signal });
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

test("when a strategy fails, the referee is told how, and the log says why", patient, async () => {
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
  assert.equal(request.length, 3);
  for (const [index, reason] of ["no idea", "no time", "no such session"].entries()) {
    const [session, sequence, failure] = request[index] as [number, number, string];
    assert.deepEqual([session, sequence], [index + 1, 1]);
    assert.match(failure, new RegExp(`^Error: ${reason}\n +at .*client.test.js:`));
    assert.doesNotMatch(failure, /\//);
    assert.match(lines.join("\n"), new RegExp(reason));
  }
});

test("an answer that is none is a failure of its turn alone, and no cards are a pass", patient, async () => {
  const wrong: unknown[] = ["3D", undefined, {}, 7, [1.5], ["3D"], [128], [[1]], new Map(), Promise.resolve("3D")];
  const bot: Bot = () => (asked) => (asked.session > wrong.length ? [] : (wrong[asked.session - 1] as null));
  const last = wrong.length + 1;
  const sessions = Array.from({ length: last }, (_, place) => place + 1);
  const said = await against(async (stream) => {
    await stream.welcome();
    stream.send({ events: sessions.flatMap((session) => [started(session), turn(session)]) });
    const read: unknown[] = [];
    while (read.length < last) read.push(...answers(await stream.read()));
    stream.send({ events: [turn(1, { kind: 99, canPass: true, sequence: 2 })] });
    return [...read, ...answers(await stream.read())] as [number, number, string][];
  }, bot);
  const failures = new Map(said.map(([session, sequence, answer]) => [`${session}/${sequence}`, answer]));
  for (const session of sessions.slice(0, -1))
    assert.match(failures.get(`${session}/1`) ?? "", /^TypeError: the strategy answered .+; an array of cards or null/);
  assert.equal(failures.get(`${last}/1`), "pass");
  assert.equal(failures.get("1/2"), "pass"); // the stream goes on
});

test("whatever a strategy throws is told, and the stream goes on", patient, async () => {
  const nameless = Object.assign(new Error("x".repeat(5_000)), { stack: undefined });
  const thrown: unknown[] = [undefined, null, "", "no idea", Object.create(null), { toString: 7 }, nameless];
  const told = [/^undefined$/, /^null$/, /^''$/, /^no idea$/, /^\[Object: null/, /^\{ toString: 7 \}$/, /^x{1000}$/];
  const lines: string[] = [];
  const bot: Bot = (session) => {
    if (session.id === "m/8") throw undefined;
    return ({ session, sequence }) => {
      if (sequence === 2) return [1];
      if (session % 2 === 0) return Promise.reject(thrown[session - 1]);
      throw thrown[session - 1];
    };
  };
  const sessions = [1, 2, 3, 4, 5, 6, 7, 8];
  const said = await afterStreams(
    [],
    async (stream) => {
      await stream.welcome();
      stream.send({ events: sessions.flatMap((session) => [started(session), turn(session)]) });
      const read: unknown[] = [];
      while (read.length < sessions.length) read.push(...answers(await stream.read()));
      stream.send({ ping: { id: 5 } });
      assert.equal((await stream.read())?.pong?.id, 5);
      stream.send({ events: [turn(1, { sequence: 2 })] });
      return [...read, ...answers(await stream.read())] as [number, number, string][];
    },
    bot,
    (line) => lines.push(line),
  );
  const failures = new Map(said.map(([session, sequence, answer]) => [session + 10 * sequence, answer]));
  for (const [place, expected] of told.entries()) {
    assert.match(failures.get(place + 11) ?? "", expected);
    assert.match(lines.join("\n"), new RegExp(`the strategy failed in session m/${place + 1}: `));
  }
  assert.equal(failures.get(18), "undefined");
  assert.deepEqual(failures.get(21), [1]);
});

test("an answer is sent as it was given, whatever becomes of the array, and one of countless cards fails", patient, async () => {
  const hand = [0];
  const bot: Bot = () => (asked) => {
    if (asked.session === 3) return Array.from({ length: 2_000_000 }, () => 1);
    hand[0] = asked.session;
    return hand;
  };
  const said = await against(async (stream) => {
    await stream.welcome();
    stream.send({ events: [1, 2, 3].flatMap((session) => [started(session), turn(session)]) });
    const read: unknown[] = [];
    while (read.length < 3) read.push(...answers(await stream.read()));
    return read as [number, number, unknown][];
  }, bot);
  assert.deepEqual(said.slice(0, 2), [
    [1, 1, [1]],
    [2, 1, [2]],
  ]);
  assert.match(String(said[2]?.[2]), /^RangeError: the strategy answered 2000000 cards/);
});

test("failures are sent in as many messages as the referee's size needs", patient, async () => {
  const bot: Bot = () => () => {
    throw "x".repeat(900);
  };
  const sessions = [1, 2, 3, 4];
  const sizes = await against(async (stream) => {
    await stream.welcome("a", {}, { maxMessageBytes: 6_000 });
    stream.send({ events: sessions.flatMap((session) => [started(session), turn(session)]) });
    const read: number[] = [];
    for (let moves = 0; moves < sessions.length; moves += read.at(-1) ?? 0) read.push(answers(await stream.read()).length);
    return read;
  }, bot);
  assert.ok(Math.max(...sizes) <= 2, `${sizes}`);
});

test("an answer that never comes holds up no other session, and a second one counts for nothing", patient, async () => {
  const bot: Bot = (session) => () =>
    session.id === "m/1" ? new Promise(() => undefined) : new Promise((resolve) => [resolve([2]), resolve(null)]);
  const said = await against(async (stream) => {
    await stream.welcome();
    stream.send({ events: [started(1), turn(1), started(2), turn(2)] });
    const first = answers(await stream.read());
    stream.send({ events: [turn(2, { sequence: 2 })] });
    return [...first, ...answers(await stream.read())];
  }, bot);
  assert.deepEqual(said, [
    [2, 1, [2]],
    [2, 2, [2]],
  ]);
});

test("a turn carries the hand and the counts, which the referee leaves to the session", patient, async () => {
  const seen: unknown[] = [];
  const bot: Bot = () => (asked) => {
    seen.push([...asked.hand], [...asked.handSizes]);
    return null;
  };
  await against(async (stream) => {
    await stream.welcome();
    const dealt = { session: 1, deal: 1, hand: [3, 1, 2], handSizes: [3, 4] };
    stream.send({ events: [started(1), { event: { case: "dealStarted", value: dealt } }, turn(1)] });
    return stream.read();
  }, bot);
  assert.deepEqual(seen, [
    [3, 1, 2],
    [3, 4],
  ]);
});

test("the log says in which session and deal a fault was", patient, async () => {
  const lines: string[] = [];
  const fault = { session: 1, reason: "too low", faults: 1, faultLimit: 3 };
  const script = async (stream: FakeStream): Promise<unknown> => {
    await stream.welcome();
    stream.send({ events: [started(1), { event: { case: "fault", value: fault } }, turn(1)] });
    return stream.read();
  };
  await afterStreams([], script, first, (line) => lines.push(line));
  assert.ok(lines.includes("session m/1 deal 0: fault 1 of 3: too low"), lines.join("\n"));
});

test("a strict bot ends with what its strategy threw", patient, async () => {
  const fails: Bot = () => () => Promise.reject(new Error("no time"));
  const [referee, address] = await FakeReferee.start(async (stream) => {
    await stream.welcome();
    stream.send({ events: [started(1), turn(1)] });
    while ((await stream.read()) !== undefined);
    stream.end();
  });
  try {
    await assert.rejects(
      play({ bot: fails, token: "t", addresses: [address], finish: never, leave: never, strict: true }),
      /no time/,
    );
  } finally {
    referee.stop();
  }
});

test("a lost stream is opened again, and the session resumed", patient, async () => {
  const request = await afterStreams(
    [
      async (stream) => {
        await stream.welcome();
        stream.send({ events: [started(1), turn(1)] });
        await stream.read();
        stream.fail(status.UNAVAILABLE, "connection reset");
      },
      async (stream) => stream.refuseAt("a"),
      async (stream) => stream.fail(status.PERMISSION_DENIED, "a proxy says no"),
      async (stream) => stream.refuse(status.RESOURCE_EXHAUSTED, "FLOOD", 1),
      async (stream) => stream.refuse(status.INVALID_ARGUMENT, "NEW_REASON", 1),
    ],
    async (stream) => {
      await stream.welcome();
      stream.send({ events: [started(1), turn(1, { sequence: 2 })] });
      return stream.read();
    },
  );
  assert.deepEqual(answers(request), [[1, 2, [1]]]);
});

/** More than the first wait of a bot that is told nothing. */
const DELAY = 700;

for (const [name, end] of [
  ["the status says", (stream: FakeStream) => stream.refuse(status.UNAVAILABLE, "CLOSING", DELAY)],
  [
    "was announced",
    async (stream: FakeStream) => {
      stream.send({ closing: { reason: "restart", retryDelay: durationFromMs(DELAY) } });
      stream.send({ events: [started(1), turn(1)] });
      assert.deepEqual(answers(await stream.read()), [[1, 1, [1]]]); // open sessions go on
      stream.fail(status.UNAVAILABLE, "connection reset");
    },
  ],
] as const) {
  test(`a bot connects again after as long as ${name}`, patient, async () => {
    let ended = Infinity;
    const waited = await afterStreams(
      [
        async (stream) => {
          await stream.welcome();
          ended = performance.now();
          await end(stream);
        },
      ],
      async () => performance.now() - ended,
    );
    assert(waited >= DELAY, `after ${waited} ms`);
  });
}

for (const [reason, code] of [
  ["TOKEN_MISSING", status.UNAUTHENTICATED],
  ["TOKEN_UNKNOWN", status.UNAUTHENTICATED],
  ["TOKEN_SCOPE", status.PERMISSION_DENIED],
  ["TOKEN_REVOKED", status.PERMISSION_DENIED],
  ["PROTOCOL_VERSION", status.FAILED_PRECONDITION],
  ["MESSAGE_UNREADABLE", status.INVALID_ARGUMENT],
  ["NEW_REASON", status.RESOURCE_EXHAUSTED],
] as const) {
  test(`${reason} without a delay is final`, patient, async () => {
    const [referee, address] = await FakeReferee.start(async (stream) => stream.refuse(code, reason));
    const [other, second] = await FakeReferee.start(async (stream) => {
      await stream.welcome("b");
      while ((await stream.read()) !== undefined);
      stream.end();
    });
    try {
      await assert.rejects(
        play({ bot: first, token: "t", addresses: [second, address], finish: never, leave: never }),
        (error: Error) => {
          assert(error instanceof Refused);
          assert.equal(error.message, `referee ${address}: ${reason}: in words`);
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
