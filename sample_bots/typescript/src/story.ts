// What the log tells of the bot's sessions: against whom they begin, how they end, and what the bot is rated.

import type { SessionEnded, SessionStarted } from "./gen/referee/v1/bots_pb.js";
import type { Session } from "./session.js";

/** Lines about sessions in one period; more are only counted. */
const MOST_LINES = 20;
/** Milliseconds. */
const PERIOD = 10_000;

interface Rating {
  readonly value: number;
  /** Matches that it comes from. */
  readonly matches: number;
}

/** Tells of the sessions on all streams of a bot. */
export class Story {
  readonly #log: (line: string) => void;
  readonly #now: () => number;
  /** When the period began. */
  #since = -Infinity;
  #lines = 0;
  /** What happened in this period without a line of its own. */
  #untold = { begun: 0, ended: 0, points: 0 };
  /** The latest rating in each pool. */
  readonly #rated = new Map<string, Rating>();

  constructor(log: (line: string) => void, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  /** A session began, or the bot came back to it; a rating that is news is told first. */
  began(session: Session, started: SessionStarted): void {
    this.#news(session, started);
    if (!this.#may()) {
      this.#untold.begun++;
      return;
    }
    const others = session.seats.flatMap((name, seat) => {
      const rating = started.ratings?.values[seat];
      const rated = started.ratings?.matches[seat] === 0 ? "not rated yet" : rating;
      return seat === session.seat ? [] : [rated === undefined ? name : `${name} (${rated})`];
    });
    const tournament = session.tournament === "" ? "" : ` in ${session.tournament}`;
    const verb = started.resumed ? "goes on" : "begins";
    const where = `in seat ${session.seat} against ${others.join(", ")}`;
    this.#log(`session ${session.id}${tournament} ${verb}: ${where}; ${session.ruleset.name}`);
  }

  /** A session has ended. */
  ended(session: Session, { scores }: SessionEnded): void {
    const points = scores[session.seat];
    if (!this.#may()) {
      this.#untold.ended++;
      this.#untold.points += points ?? 0;
    } else if (points === undefined) {
      this.#log(`session ${session.id} is void: it may be continued later`);
    } else {
      const place = 1 + scores.filter((other) => other > points).length;
      this.#log(
        `session ${session.id} has ended: ${signed(points)} points, place ${place} of ${scores.length}`,
      );
    }
  }

  /** Tells what was only counted. */
  sumUp(): void {
    const { begun, ended, points } = this.#untold;
    if (begun + ended > 0) {
      this.#log(`not shown one by one: ${begun} sessions begun, ${ended} ended with ${signed(points)} points`);
    }
    this.#untold = { begun: 0, ended: 0, points: 0 };
  }

  #news(session: Session, { ratings }: SessionStarted): void {
    const value = ratings?.values[session.seat];
    const matches = ratings?.matches[session.seat];
    if (ratings === undefined || value === undefined || matches === undefined) return;
    const before = this.#rated.get(ratings.pool);
    // A match may have been handed out earlier than one that was told of.
    if (before !== undefined && matches <= before.matches) return;
    this.#rated.set(ratings.pool, { value, matches });
    if (matches === 0) {
      this.#log(`not rated yet in ${ratings.pool}: it begins with ${value}`);
      return;
    }
    const change = before === undefined ? "" : ` (${signed(value - before.value)})`;
    this.#log(`rated ${value}${change} in ${ratings.pool}`);
  }

  /** Whether a line may be written. */
  #may(): boolean {
    const now = this.#now();
    if (now - this.#since >= PERIOD) {
      this.#since = now;
      this.#lines = 0;
      this.sumUp();
    }
    return ++this.#lines <= MOST_LINES;
  }
}

function signed(number: number): string {
  return number < 0 ? `${number}` : `+${number}`;
}
