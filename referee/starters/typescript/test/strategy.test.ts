import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { SessionStartedSchema, TurnSchema } from "../src/gen/referee/v1/bots_pb.js";
import { Session } from "../src/session.js";
import { planner } from "../src/strategy.js";

const session = new Session(create(SessionStartedSchema, { ruleset: "{}", seat: 0, seats: ["a", "b"] }));

test("sheds as many cards as it can", () => {
  const turn = create(TurnSchema, { legalPlays: [{ cards: [1] }, { cards: [1, 2] }] });
  assert.deepEqual(planner(session)(turn), [1, 2]);
});

test("passes without a legal play", () => {
  assert.equal(planner(session)(create(TurnSchema, { canPass: true })), null);
});
