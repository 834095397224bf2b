// The planner: counts in how many plays its hand would be gone, and takes the play that leaves the fewest.
//
// It knows no rules. All that it goes by are the plays that the referee lists: those that it may choose from,
// and those that it was shown earlier in the deal and still holds.

import type { Card } from "./gen/referee/v1/cards_pb.js";
import { TurnKind } from "./gen/referee/v1/bots_pb.js";
import type { Turn } from "./gen/referee/v1/bots_pb.js";
import type { Answer, Strategy } from "./client.js";
import { without } from "./session.js";
import type { Session } from "./session.js";

type Cards = readonly Card[];

/** A seat with so few cards may go out before the next turn. */
const SHORT = 1;
/** What a card of the highest rank, and a bomb, are worth in plays while the deal is young. */
const TOP_WORTH = 0.2;
const BOMB_WORTH = 1;
/** Combinations and plays that are looked at in a turn, so that hands of fifty cards take little time too. */
const LOOKED_AT = 400;

/** Makes the strategy for a session. */
export function planner(session: Session): Strategy {
  let deal = 0;
  let shown = new Map<string, Cards>();

  /** Combinations in the hand that the referee has listed in this deal. */
  function combinations(plays: readonly Cards[]): Cards[] {
    if (deal !== session.deal) shown = new Map();
    deal = session.deal;
    for (const cards of plays) if (cards.length > 1) shown.set(cards.join(), cards);
    const held = count(session.hand);
    for (const [name, cards] of shown) if (!take(new Map(held), cards)) shown.delete(name);
    return [...shown.values()];
  }

  return (turn: Turn): Answer => {
    const plays = turn.legalPlays.map((play) => play.cards);
    const known = combinations(plays);
    const needed = (hand: Cards): number => playsNeeded(hand, known);
    switch (turn.kind) {
      case TurnKind.EXCHANGE:
        return least(plays, ([card]) => needed(without(session.hand, card === undefined ? [] : [card])));
      case TurnKind.BOMB:
      case TurnKind.BEAT_OWN:
        return (
          plays.find((cards) => needed(without(session.hand, cards)) <= 1) ??
          (turn.canPass ? null : (plays[0] ?? null))
        );
      default:
        return choose(turn, session, plays, needed);
    }
  };
}

function choose(
  turn: Turn,
  session: Session,
  plays: readonly Cards[],
  needed: (hand: Cards) => number,
): Answer {
  const { hand } = session;
  const others = session.counts.filter((left, seat) => seat !== session.seat && left > 0);
  const danger = Math.min(...others) <= SHORT;
  const out = plays.find((cards) => cards.length === hand.length);
  if (out !== undefined) return out;

  const leads = turn.toBeat.length === 0;
  const cost = (cards: Cards): number => {
    const left = needed(without(hand, cards));
    const kept = left <= 1 || danger ? 0 : worth(cards, turn);
    // Whoever leads sheds many cards, and low ones.
    return left + kept + (leads ? mean(cards) / 100 - cards.length / 5 : 0);
  };
  if (danger) {
    // Nobody shall go out on this trick: no play of a size that a short seat can follow, else the strongest.
    const safe = plays.filter((cards) => !leads || !others.includes(cards.length));
    if (leads && safe.length > 0) return least(safe, cost);
    return plays.at(-1) ?? null;
  }
  const best = least(plays, cost);
  if (best === null || !turn.canPass) return best;
  return cost(best) < needed(hand) ? best : null;
}

/** About how many plays it takes to shed a hand: large combinations first, then what is left rank by rank. */
export function playsNeeded(hand: Cards, combinations: readonly Cards[]): number {
  const large = combinations.filter((cards) => cards.length > 3).sort((a, b) => b.length - a.length);
  return Math.min(shed(hand, large), shed(hand, large.reverse()), shed(hand, []));
}

function shed(hand: Cards, combinations: readonly Cards[]): number {
  const left = count(hand);
  const plays = combinations.slice(0, LOOKED_AT).filter((cards) => take(left, cards)).length;
  const ranks = new Set<number>();
  for (const [card, copies] of left) if (copies > 0) ranks.add(rank(card));
  return plays + ranks.size;
}

/** What a play gives away that would win a trick later, in plays. */
function worth(cards: Cards, turn: Turn): number {
  const twos = cards.filter((card) => rank(card) >= TOP).length;
  const bomb = turn.toBeat.length > 0 && cards.length !== turn.toBeat.length;
  return TOP_WORTH * twos + (bomb || ofOneRank(cards) >= 4 ? BOMB_WORTH : 0);
}

const TOP = 14;
const JOKERS = 15;

/** How high a card is: from 0, a 3, to 10, a king; 11 and 12 are the tiles 14 and 15, 13 an ace, 14 a two, 15 a joker. */
export function rank(card: Card): number {
  const place = (card - 1) >> 2;
  if (place <= 10 || place >= JOKERS) return place;
  return place <= 12 ? place + 2 : place - 2;
}

function mean(cards: Cards): number {
  return cards.reduce((sum, card) => sum + rank(card), 0) / cards.length;
}

function ofOneRank(cards: Cards): number {
  return Math.max(
    ...[...new Set(cards.map(rank))].map((high) => cards.filter((card) => rank(card) === high).length),
  );
}

/** The play that costs least, of several the first; null if there is none. */
function least(plays: readonly Cards[], cost: (cards: Cards) => number): Cards | null {
  let best: Cards | null = null;
  let lowest = Infinity;
  for (const cards of plays.slice(0, LOOKED_AT)) {
    const found = cost(cards);
    if (found < lowest) [best, lowest] = [cards, found];
  }
  return best;
}

function count(hand: Cards): Map<Card, number> {
  const copies = new Map<Card, number>();
  for (const card of hand) copies.set(card, (copies.get(card) ?? 0) + 1);
  return copies;
}

/** Takes `cards` out of `left` if all are there. */
function take(left: Map<Card, number>, cards: Cards): boolean {
  const twice = new Set(cards).size < cards.length;
  const wanted = twice ? count(cards) : new Map(cards.map((card) => [card, 1]));
  for (const [card, copies] of wanted) if ((left.get(card) ?? 0) < copies) return false;
  for (const [card, copies] of wanted) left.set(card, (left.get(card) ?? 0) - copies);
  return true;
}
