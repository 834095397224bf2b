import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import type { Card } from "../src/gen/referee/v1/cards_pb.js";
import {
  DealStartedSchema,
  SessionStartedSchema,
  TurnKind,
  TurnSchema,
} from "../src/gen/referee/v1/bots_pb.js";
import { Session } from "../src/session.js";
import { planner, playsNeeded, rank } from "../src/strategy.js";

const SUITS = "DCHS";
const RANKS = "3456789TJQKA2";

/** Cards from text: "3D 2S". */
function cards(text: string): Card[] {
  return text === ""
    ? []
    : text.split(" ").map((card) => 4 * RANKS.indexOf(card.charAt(0)) + SUITS.indexOf(card.charAt(1)) + 1);
}

interface Position {
  hand: string;
  plays: string[];
  toBeat?: string;
  counts?: number[];
  kind?: TurnKind;
}

/** What the planner in seat 0 answers. */
function answer({
  hand,
  plays,
  toBeat = "",
  counts = [13, 13, 13, 13],
  kind = TurnKind.PLAY,
}: Position): Card[] | null {
  const session = new Session(create(SessionStartedSchema, { ruleset: "{}", seat: 0, seats: ["a", "b", "c", "d"] }));
  session.dealStarted(create(DealStartedSchema, { deal: 1, hand: cards(hand), handSizes: counts }));
  const turn = create(TurnSchema, {
    kind,
    toBeat: cards(toBeat),
    canPass: toBeat !== "",
    legalPlays: plays.map((play) => ({ cards: cards(play) })),
  });
  return planner(session)(turn) as Card[] | null;
}

const STRAIGHT = "3D 4C 5H 6S 7D";

test("leading, it sheds a combination rather than a single card", () => {
  const hand = `${STRAIGHT} 9C KD`;
  const plays = [...hand.split(" "), STRAIGHT];
  assert.deepEqual(answer({ hand, plays }), cards(STRAIGHT));
});

test("following, it takes the weakest card that breaks nothing", () => {
  const position = { hand: "5D 5C 8H KD KS", plays: ["5D", "5C", "8H", "KD", "KS"], toBeat: "3S" };
  assert.deepEqual(answer(position), cards("8H"));
});

test("following, it passes rather than tear a pair apart", () => {
  assert.equal(answer({ hand: "4D 8H 9C KD KS", plays: ["KD", "KS"], toBeat: "QS" }), null);
});

test("it keeps its two while there is another way", () => {
  assert.deepEqual(answer({ hand: "4D 5C 9C KD 2S", plays: ["KD", "2S"], toBeat: "QS" }), cards("KD"));
});

test("it keeps a bomb for later, and uses it against a short hand", () => {
  const position = { hand: "4D 5C 6D 7D 9D 9C 9H 9S", plays: ["9D 9C 9H 9S"], toBeat: "QS" };
  assert.equal(answer(position), null);
  assert.deepEqual(answer({ ...position, counts: [8, 1, 9, 9] }), cards("9D 9C 9H 9S"));
});

test("against a short hand it leads what that hand cannot follow, else its strongest", () => {
  const counts = [4, 1, 9, 9];
  assert.deepEqual(
    answer({ hand: "4D 8D 8H KS", plays: ["4D", "8D", "8H", "KS", "8D 8H"], counts }),
    cards("8D 8H"),
  );
  assert.deepEqual(answer({ hand: "4D 8D TH KS", plays: ["4D", "8D", "TH", "KS"], counts }), cards("KS"));
});

test("it goes out when it can", () => {
  assert.deepEqual(answer({ hand: "2D 2S", plays: ["2D 2S"], toBeat: "AD AS" }), cards("2D 2S"));
});

test("in an exchange it returns the low card that no combination needs", () => {
  const hand = "3D 3C 4D 9C KS";
  assert.deepEqual(answer({ hand, plays: hand.split(" "), kind: TurnKind.EXCHANGE }), cards("4D"));
});

test("it declines to bomb, or to beat its own play, unless the rest goes out at once", () => {
  for (const kind of [TurnKind.BOMB, TurnKind.BEAT_OWN]) {
    const plays = ["9D 9C 9H 9S"];
    assert.equal(answer({ hand: "4D 5C 9D 9C 9H 9S", plays, toBeat: "QS", kind }), null);
    assert.deepEqual(answer({ hand: "5C 9D 9C 9H 9S", plays, toBeat: "QS", kind }), cards("9D 9C 9H 9S"));
    assert.equal(answer({ hand: "5C", plays: [], toBeat: "QS", kind }), null);
  }
});

test("it counts the plays that a hand needs", () => {
  const hand = cards(`${STRAIGHT} 9C 9D KD`);
  assert.equal(playsNeeded(hand, []), 7);
  assert.equal(playsNeeded(hand, [cards(STRAIGHT)]), 3);
  assert.equal(playsNeeded([1, 1, 1, 1, 1], [[1, 1, 1, 1, 1]]), 1);
});

test("ranks are in the order of strength, tiles and jokers too", () => {
  const kings = [...cards("3D KS"), 53, 57, ...cards("AD 2S"), 61, 62];
  assert.deepEqual(kings.map(rank), [0, 10, 11, 12, 13, 14, 15, 15]);
});

test("a hand of fifty cards of two packs is answered", () => {
  const hand = Array.from({ length: 50 }, (_, at) => `${RANKS.charAt(at >> 2)}${SUITS.charAt(at & 3)}`);
  const plays = hand.flatMap((one, at) => hand.slice(at + 1).map((other) => `${one} ${other}`));
  const large = hand.flatMap((_, at) =>
    hand.slice(at, at + 40).map((card, next) => [card, ...hand.slice(next, next + 4)].join(" ")),
  );
  assert.notEqual(answer({ hand: hand.join(" "), plays: [...hand, ...plays, ...large] }), null);
});
