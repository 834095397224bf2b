import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { SessionEndedSchema, SessionStartedSchema } from "../src/gen/referee/v1/bots_pb.js";
import { Session } from "../src/session.js";
import { Story } from "../src/story.js";

/** A story with a clock, and what it told. */
class Told {
  now = 1_000_000;
  readonly lines: string[] = [];
  readonly story = new Story(
    (line) => this.lines.push(line),
    () => this.now,
  );

  began(value: number, matches: number): Session {
    const started = create(SessionStartedSchema, {
      sessionId: "cup/1/2/3",
      tournament: "cup",
      ruleset: '{"name": "house", "ranks": ["3"], "plays": ["single"]}',
      seats: ["ann/a@1", "me/b@1"],
      seat: 1,
      ratings: { pool: "house@1, tables of 2", values: [1490, value], matches: [7, matches] },
    });
    const session = new Session(started);
    this.story.began(session, started);
    return session;
  }

  ended(session: Session, ...scores: number[]): void {
    this.story.ended(session, create(SessionEndedSchema, { scores }));
  }
}

test("sessions and ratings are told", () => {
  const told = new Told();
  const session = told.began(1500, 3);
  told.ended(session, 12, -12);
  told.ended(session);
  assert.deepEqual(told.lines, [
    "rated 1500 in house@1, tables of 2",
    "session cup/1/2/3 in cup begins: in seat 1 against ann/a@1 (1490); house",
    "session cup/1/2/3 has ended: -12 points, place 2 of 2",
    "session cup/1/2/3 is void: it may be continued later",
  ]);
});

test("who has played no match yet is not rated", () => {
  const told = new Told();
  told.began(1500, 0);
  assert.equal(told.lines[0], "not rated yet in house@1, tables of 2: it begins with 1500");
});

test("a rating is told when a match was added to it", () => {
  const told = new Told();
  for (const matches of [3, 3, 4, 3]) told.began(1500 + matches, matches);
  const rated = told.lines.filter((line) => line.startsWith("rated"));
  assert.deepEqual(rated, ["rated 1503 in house@1, tables of 2", "rated 1504 (+1) in house@1, tables of 2"]);
});

test("of many sessions some are told, and the others are counted", () => {
  const told = new Told();
  const session = told.began(1500, 3);
  for (let count = 0; count < 24; count++) told.ended(session, -2, 2);
  assert.equal(told.lines.filter((line) => line.includes("has ended")).length, 19);
  told.now += 10_000;
  told.began(1500, 3);
  assert.equal(told.lines.at(-2), "not shown one by one: 0 sessions begun, 5 ended with +10 points");
});
