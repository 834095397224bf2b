import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import {
  ActionKind,
  ActionSchema,
  DealEndedSchema,
  DealStartedSchema,
  Direction,
  SessionStartedSchema,
} from "../src/gen/referee/v1/bots_pb.js";
import { Session, without } from "../src/session.js";

function session(direction = Direction.CLOCKWISE): Session {
  const ruleset = '{"name": "house", "ranks": ["3", "2"], "plays": ["single"], "decks": 2}';
  const made = new Session(
    create(SessionStartedSchema, {
      sessionId: "m/1",
      ruleset,
      seats: ["a", "b", "c"],
      seat: 1,
      scores: [1, 2, 3],
    }),
  );
  made.dealStarted(
    create(DealStartedSchema, { deal: 1, hand: [1, 1, 5], handSizes: [3, 3, 3], dealer: 2, direction }),
  );
  return made;
}

test("a session knows its ruleset, its seats and the score", () => {
  const { id, ruleset, seat, seats, scores } = session();
  assert.deepEqual(
    [id, ruleset.name, ruleset["decks"], seat, seats.length, scores],
    ["m/1", "house", 2, 1, 3, [1, 2, 3]],
  );
});

test("the next seat follows the direction", () => {
  assert.deepEqual([session().nextSeat, session(Direction.ANTICLOCKWISE).nextSeat], [2, 0]);
});

test("plays and draws change the counts, and the own hand", () => {
  const one = session();
  one.happened([
    create(ActionSchema, { seat: 0, kind: ActionKind.PLAY, cards: [2, 3] }),
    create(ActionSchema, { seat: 1, kind: ActionKind.PLAY, cards: [1] }),
    create(ActionSchema, { seat: 2, kind: ActionKind.PASS, drawn: 1 }),
    create(ActionSchema, { seat: 1, kind: ActionKind.PASS, drawn: 2, drawnCards: [9, 10] }),
  ]);
  assert.deepEqual(one.hand, [1, 5, 9, 10]);
  assert.deepEqual(one.counts, [1, 4, 4]);
  assert.equal(one.actions.length, 4);
});

test("an exchange moves a card, seen or not", () => {
  const one = session();
  one.happened([
    create(ActionSchema, { seat: 0, partner: 1, kind: ActionKind.EXCHANGE, cards: [52] }),
    create(ActionSchema, { seat: 1, partner: 0, kind: ActionKind.EXCHANGE, cards: [1] }),
    create(ActionSchema, { seat: 0, partner: 2, kind: ActionKind.EXCHANGE }),
  ]);
  assert.deepEqual(one.hand, [1, 5, 52]);
  assert.deepEqual(one.counts, [2, 3, 4]);
});

test("a deal that is told of again starts over", () => {
  const one = session();
  one.happened([create(ActionSchema, { seat: 1, kind: ActionKind.BOMB, cards: [1, 1] })]);
  one.dealStarted(create(DealStartedSchema, { deal: 1, hand: [1, 1, 5], handSizes: [3, 3, 3] }));
  assert.deepEqual([one.hand, one.counts, one.actions], [[1, 1, 5], [3, 3, 3], []]);
});

test("the end of a deal brings the last actions and the score", () => {
  const one = session();
  one.dealEnded(
    create(DealEndedSchema, {
      actions: [{ seat: 1, kind: ActionKind.PLAY, cards: [5] }],
      scores: [-1, 2, -1],
    }),
  );
  assert.deepEqual(
    [one.hand, one.scores],
    [
      [1, 1],
      [-1, 2, -1],
    ],
  );
});

test("without takes one copy at a time", () => {
  assert.deepEqual(without([1, 1, 2], [1, 3]), [1, 2]);
});
