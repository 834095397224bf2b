import assert from "node:assert/strict";
import { test } from "node:test";
import { status } from "@grpc/grpc-js";
import { FakeReferee } from "./fake_referee.js";
import type { Arena } from "./fake_referee.js";
import { Happening, local, patient, playing, stay } from "./playing.js";

const NOWHERE = "127.0.0.1:1";

test("a bot opens one stream to each referee, also to one that is listed with another address", patient, async () => {
  for (const given of [(address: string) => address, local]) {
    const [here, there] = [new Happening(), new Happening()];
    const arena = (): Arena => ({ a: address, b: second });
    const [other, second] = await FakeReferee.start(async (stream) => {
      await stream.welcome("b", arena());
      await stay(stream, there);
    });
    const [referee, address] = await FakeReferee.start(async (stream) => {
      await stream.welcome("a", arena());
      await stay(stream, here, there.happened);
    });
    try {
      await playing([given(address)], async () => here.happened);
      assert.deepEqual([referee.streams, other.streams], [1, 1]);
    } finally {
      referee.stop();
      other.stop();
    }
  }
});

test("one of two addresses of a referee is given up", patient, async () => {
  const [welcomed, answered, givenUp] = [new Happening(), new Happening(), new Happening()];
  const [referee, address] = await FakeReferee.start(
    async (stream) => {
      await stream.welcome("a", { a: "arena.example.org:8710" });
      stream.send({ ping: { id: 1 } });
      await stream.read();
      welcomed.happens(); // to the bot, which has answered
      await stay(stream, answered, givenUp.happened);
    },
    async (stream) => {
      await welcomed.happened;
      stream.refuseAt("a");
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

test("a listed address that leads nowhere is given up when another one leads there", patient, async () => {
  const answered = new Happening();
  const [referee, address] = await FakeReferee.start(async (stream) => {
    await stream.welcome("a", { a: NOWHERE });
    await stay(stream, answered);
  });
  try {
    await playing([NOWHERE, address], async (logged) => {
      const line = await logged("not needed");
      assert.equal(line, `referee ${NOWHERE}: not needed, the bot is connected to it at ${address}`);
      await answered.happened;
    });
  } finally {
    referee.stop();
  }
});

test("a bot whose address leads to another referee goes to the listed address", patient, async () => {
  const [here, there] = [new Happening(), new Happening()];
  const arena = (): Arena => ({ a: address, b: second });
  const [referee, address] = await FakeReferee.start(async (stream) => {
    await stream.welcome("a", arena());
    await stay(stream, here);
  });
  const [other, second] = await FakeReferee.start(async (stream) => {
    await stream.welcome("b", arena());
    await stay(stream, there);
  });
  const [balancer, shared] = await FakeReferee.start(
    async (stream) => {
      await stream.welcome("a", arena());
      await there.happened;
      stream.fail(status.UNAVAILABLE, "restarting");
    },
    async (stream) => stream.refuseAt("b"),
  );
  try {
    const lines = await playing([shared], async () => here.happened);
    assert.deepEqual(
      lines.filter((line) => line.includes("not needed")),
      [`referee ${shared}: not needed, the bot is connected to it at ${second}`],
    );
    assert.deepEqual([balancer.streams, referee.streams, other.streams], [2, 1, 1]);
  } finally {
    for (const each of [referee, other, balancer]) each.stop();
  }
});

test("a bot that is connected by another process of it tries again", patient, async () => {
  const [here, there] = [new Happening(), new Happening()];
  const arena = (): Arena => ({ a: address, b: second });
  const [other, second] = await FakeReferee.start(async (stream) => {
    await stream.welcome("b", arena());
    await stay(stream, there);
  });
  const [referee, address] = await FakeReferee.start(
    async (stream) => {
      await there.happened;
      stream.refuseAt("a");
    },
    async (stream) => {
      await stream.welcome("a", arena());
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

test("a bot that reaches one of two referees asks it for all its sessions, and gives them back", patient, async () => {
  const [alone, again, both] = [new Happening(), new Happening(), new Happening()];
  const arena = (): Arena => ({ a: address, b: second });
  const [other, second] = await FakeReferee.start(
    async (stream) => stream.fail(status.UNAVAILABLE, "not yet"),
    async (stream) => {
      await alone.happened;
      await stream.welcome("b", arena(), { maxSessions: 1 });
      again.happens();
      while ((await stream.read()) !== undefined);
      stream.end();
    },
  );
  const asked: unknown[] = [];
  const [referee, address] = await FakeReferee.start(async (stream) => {
    asked.push((await stream.welcome("a", arena(), { maxSessions: 2 })).hello?.maxSessions);
    asked.push((await stream.read())?.capacity?.maxSessions);
    alone.happens();
    await again.happened;
    asked.push((await stream.read())?.capacity?.maxSessions);
    both.happens();
    while ((await stream.read()) !== undefined);
    stream.end();
  });
  try {
    await playing([address], async () => both.happened, { maxSessions: 3 });
    assert.deepEqual(asked, [3, 3, 2]);
  } finally {
    referee.stop();
    other.stop();
  }
});
