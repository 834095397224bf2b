// What a bot knows of a session: the sum of the events that it was sent.

import { ActionKind, Direction } from "./gen/referee/v1/bots_pb.js";
import type { Action, DealEnded, DealStarted, SessionStarted } from "./gen/referee/v1/bots_pb.js";
import type { Card } from "./gen/referee/v1/cards_pb.js";

/** The rules as they come with a session; docs/rulesets.md explains every field. */
export interface Ruleset {
  readonly name: string;
  /** Low to high. */
  readonly ranks: readonly string[];
  /** Kinds of plays. */
  readonly plays: readonly string[];
  readonly [field: string]: unknown;
}

/** One session, seen from the bot's seat. */
export class Session {
  /** Public name, "match/number". */
  readonly id: string;
  readonly tournament: string;
  readonly ruleset: Ruleset;
  /** Names of the bots, seat 0 first. */
  readonly seats: readonly string[];
  /** The bot's own seat. */
  readonly seat: number;
  /** Running score, seat 0 first. */
  scores: readonly number[];
  /** Counts the deals from 1; 0 before the first. */
  deal = 0;
  /** The bot's own cards; of two packs a card may stand there twice. */
  hand: Card[] = [];
  /** Cards left, seat 0 first. */
  counts: number[] = [];
  dealer = 0;
  /** Whether seat s is followed by seat s + 1; else by s - 1. */
  clockwise = true;
  /** All that happened in this deal, oldest first. */
  actions: Action[] = [];

  constructor(started: SessionStarted) {
    this.id = started.sessionId;
    this.tournament = started.tournament;
    this.ruleset = JSON.parse(started.ruleset) as Ruleset;
    this.seats = started.seats;
    if (started.seat === undefined) throw new Error("the bot has no seat");
    this.seat = started.seat;
    this.scores = started.scores;
  }

  /** The seat whose turn comes after the bot's own, if it has cards. */
  get nextSeat(): number {
    const size = this.seats.length;
    return (this.seat + (this.clockwise ? 1 : size - 1)) % size;
  }

  /** A deal begins, or is told of again after a reconnect. */
  dealStarted(started: DealStarted): void {
    this.deal = started.deal;
    this.hand = [...started.hand];
    this.counts = [...started.handSizes];
    this.dealer = started.dealer;
    this.clockwise = started.direction !== Direction.ANTICLOCKWISE;
    this.actions = [];
  }

  /** Takes in what the seats did. */
  happened(actions: readonly Action[]): void {
    for (const action of actions) {
      this.actions.push(action);
      if (action.kind === ActionKind.EXCHANGE) {
        this.#count(action.seat, -1);
        if (action.partner !== undefined) this.#count(action.partner, 1);
        if (action.partner === this.seat) this.hand.push(...action.cards);
      } else {
        this.#count(action.seat, action.drawn - action.cards.length);
      }
      if (action.seat === this.seat) {
        this.hand = without(this.hand, action.cards);
        this.hand.push(...action.drawnCards);
      }
    }
  }

  /** A deal is over. */
  dealEnded(ended: DealEnded): void {
    this.happened(ended.actions);
    this.scores = ended.scores;
  }

  #count(seat: number, change: number): void {
    this.counts[seat] = (this.counts[seat] ?? 0) + change;
  }
}

/** `hand` less `cards`; a card that is not there is passed over. */
export function without(hand: readonly Card[], cards: readonly Card[]): Card[] {
  const left = [...hand];
  for (const card of cards) {
    const at = left.indexOf(card);
    if (at >= 0) left.splice(at, 1);
  }
  return left;
}
