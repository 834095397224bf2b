// A worker thread: a referee that sends a ping and a turn in one message; raises a flag at the pong.

import { parentPort, workerData } from "node:worker_threads";
import { TurnKind } from "../src/gen/referee/v1/bots_pb.js";
import { FakeReferee } from "./fake_referee.js";

const flag = workerData as Int32Array;
const [, address] = await FakeReferee.start(async (stream) => {
  await stream.welcome();
  stream.send({
    ping: { id: 7 },
    events: [
      { event: { case: "sessionStarted", value: { session: 1, ruleset: "{}", seat: 0, seats: ["a", "b"] } } },
      { event: { case: "turn", value: { session: 1, sequence: 1, kind: TurnKind.PLAY, canPass: true } } },
    ],
  });
  const answer = await stream.read();
  if (answer?.pong?.id === 7) {
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
  }
  await stream.read();
  parentPort?.postMessage("answered");
});
parentPort?.postMessage(address);
