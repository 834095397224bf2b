// What the tests of the client share: events, answers, and a bot that plays against scripts of a referee.

import assert from "node:assert/strict";
import { play } from "../src/client.js";
import type { Bot, Options } from "../src/client.js";
import { TurnKind } from "../src/gen/referee/v1/bots_pb.js";
import type { Move, PlayRequest } from "../src/gen/referee/v1/bots_pb.js";
import { FakeReferee } from "./fake_referee.js";
import type { FakeStream, Response } from "./fake_referee.js";

/** A signal that never comes. */
export const never = new AbortController().signal;

export type Events = NonNullable<Response["events"]>;

export const first: Bot = () => (turn) => turn.legalPlays[0]?.cards ?? null;

export function started(session: number): Events[number] {
  return {
    event: {
      case: "sessionStarted",
      value: { session, sessionId: `m/${session}`, ruleset: "{}", seat: 0, seats: ["a", "b"] },
    },
  };
}

export function turn(
  session: number,
  fields: { kind?: number; canPass?: boolean; sequence?: number } = {},
): Events[number] {
  const value = { session, sequence: 1, kind: TurnKind.PLAY, legalPlays: [{ cards: [session] }], ...fields };
  return { event: { case: "turn", value } };
}

export function answers(request: PlayRequest | undefined): unknown[] {
  return (request?.moves ?? []).map(({ session, sequence, cards, passes, failure }: Move) => [
    session,
    sequence,
    failure || (passes ? "pass" : [...cards]),
  ]);
}

/** Plays against a script of a referee until the script has gone through; gives the script's value. */
export async function against<T>(script: (stream: FakeStream) => Promise<T>, bot: Bot = first): Promise<T> {
  return afterStreams([], script, bot);
}

/** The same, after streams that go another way. */
export async function afterStreams<T>(
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
    await play({ bot, token: "secret", addresses: [address], finish: never, leave: leaving.signal, log });
    return await value;
  } finally {
    referee.stop();
  }
}

export const patient = { timeout: 20_000 };

/** Plays at these addresses until `during` has gone through; gives what the bot logged. */
export async function playing(
  addresses: string[],
  during: (logged: (text: string) => Promise<string>) => Promise<void>,
  options: Partial<Options> = {},
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
  const played = play({ bot: first, token: "t", addresses, finish: never, leave: leaving.signal, log, ...options });
  try {
    await during(logged);
  } finally {
    leaving.abort();
    await played;
  }
  return lines;
}

/** Something that happens once. */
export class Happening {
  happens: () => void = () => undefined;
  readonly happened = new Promise<void>((resolve) => (this.happens = resolve));
}

/** The bot stays until it leaves, and answers a turn when `asked` has happened. */
export async function stay(stream: FakeStream, answered: Happening, asked = Promise.resolve()): Promise<void> {
  await asked;
  stream.send({ events: [started(1), turn(1)] });
  assert.deepEqual(answers(await stream.read()), [[1, 1, [1]]]);
  answered.happens();
  while ((await stream.read()) !== undefined);
  stream.end();
}

export function local(address: string): string {
  return address.replace("127.0.0.1", "localhost");
}
