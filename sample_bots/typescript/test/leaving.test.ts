import assert from "node:assert/strict";
import { test } from "node:test";
import { status } from "@grpc/grpc-js";
import { play } from "../src/client.js";
import type { PlayRequest } from "../src/gen/referee/v1/bots_pb.js";
import { FakeReferee } from "./fake_referee.js";
import type { FakeStream } from "./fake_referee.js";
import { answers, first, never, patient, started, turn } from "./playing.js";
import type { Events } from "./playing.js";

const ended: Events = [{ event: { case: "sessionEnded", value: { session: 1 } } }];

/** Plays until the bot leaves by itself, against scripts that are given what makes it finish or leave. */
async function untilItLeaves(
  ...scripts: ((stream: FakeStream, finish: () => void, leave: () => void) => Promise<void>)[]
): Promise<void> {
  const [finishing, leaving] = [new AbortController(), new AbortController()];
  const problems: unknown[] = [];
  const [referee, address] = await FakeReferee.start(
    ...scripts.map((script) => async (stream: FakeStream) => {
      try {
        await script(
          stream,
          () => finishing.abort(),
          () => leaving.abort(),
        );
      } catch (error) {
        problems.push(error);
        leaving.abort();
      }
    }),
  );
  const [finish, leave] = [finishing.signal, leaving.signal];
  try {
    await play({ bot: first, token: "t", addresses: [address], finish, leave });
  } finally {
    referee.stop();
  }
  assert.deepEqual(problems, []);
  assert.equal(referee.streams, scripts.length);
}

async function plays(stream: FakeStream): Promise<void> {
  stream.send({ events: [started(1), turn(1)] });
  assert.deepEqual(answers(await stream.read()), [[1, 1, [1]]]);
}

async function wantsNoMore(stream: FakeStream): Promise<void> {
  assert.equal((await stream.read())?.capacity?.maxSessions, 0);
}

/** The bot says goodbye and ends its side of the stream. */
async function saysGoodbye(stream: FakeStream): Promise<void> {
  const said: (PlayRequest | undefined)[] = [await stream.read(), await stream.read()];
  assert.notEqual(said[0]?.goodbye, undefined);
  assert.equal(said[1], undefined);
  assert.equal(stream.cancelled, false);
  stream.end();
}

test("a bot that finishes plays its sessions to their end", patient, async () => {
  await untilItLeaves(async (stream, finish) => {
    await stream.welcome();
    await plays(stream);
    finish();
    await wantsNoMore(stream);
    await plays(stream);
    stream.send({ events: ended });
    await saysGoodbye(stream);
  });
});

test("a bot that finishes comes back to its sessions", patient, async () => {
  await untilItLeaves(
    async (stream, finish) => {
      await stream.welcome();
      await plays(stream);
      finish();
      await wantsNoMore(stream);
      stream.fail(status.UNAVAILABLE, "connection reset");
    },
    async (stream) => {
      await stream.welcome();
      await wantsNoMore(stream);
      await plays(stream);
      stream.send({ events: ended });
      await saysGoodbye(stream);
    },
  );
});

test("a bot that finishes without a session leaves", patient, async () => {
  await untilItLeaves(async (stream, finish) => {
    await stream.welcome();
    stream.send({ ping: { id: 1 } });
    await stream.read();
    finish();
    await wantsNoMore(stream);
    await saysGoodbye(stream);
  });
});

test("a bot that leaves says goodbye at once", patient, async () => {
  await untilItLeaves(async (stream, finish, leave) => {
    await stream.welcome();
    await plays(stream);
    finish();
    await wantsNoMore(stream);
    leave();
    await saysGoodbye(stream);
  });
});

test("a bot that cannot reach its referee can still be told to leave", patient, async () => {
  const leaving = new AbortController();
  const options = { bot: first, token: "t", addresses: ["127.0.0.1:1"], log: () => leaving.abort() };
  await play({ ...options, finish: leaving.signal, leave: never });
  assert(leaving.signal.aborted);
});
