// What a bot knows of the arena's referees: which it is connected to, at which address, and which are left.

import type { Referee, Welcome } from "./gen/referee/v1/bots_pb.js";

/** What it asks of a stream. */
export interface Asked {
  /** Asks for another number of sessions at once. */
  ask(sessions: number): void;
}

/** A referee that the bot is connected to. */
interface Home {
  readonly address: string;
  readonly stream: Asked;
  /** How many sessions the referee gave the bot. */
  readonly share: number;
  /** How many it was asked for last. */
  asked: number;
}

/** A referee has a stable id and perhaps several addresses; the bot has one stream to each that it can reach. */
export class Referees {
  readonly #dial: (address: string) => void;
  readonly #maxSessions: number;
  /** Addresses that the bot is connected to, or tries to be. */
  readonly #dialled = new Set<string>();
  /** To which referee an address led last, or is listed to lead. */
  readonly #leads = new Map<string, string>();
  /** By the referee's id. */
  readonly #live = new Map<string, Home>();
  /** Referees that could not be reached. */
  readonly #missed = new Set<string>();
  #listed: readonly Referee[] = [];

  /** `dial` opens a stream; `maxSessions` is for all of them together, 0 if it is left to the referees. */
  constructor(maxSessions: number, dial: (address: string) => void) {
    this.#maxSessions = maxSessions;
    this.#dial = dial;
  }

  /** Opens a stream to each address that has none. */
  dial(addresses: readonly string[]): void {
    for (const address of addresses) {
      if (this.#dialled.has(address)) continue;
      this.#dialled.add(address);
      this.#dial(address);
    }
  }

  /** Takes in a welcome, and opens a stream to each referee that has none. */
  welcomed(address: string, { refereeId, referees, maxSessions }: Welcome, stream: Asked): void {
    this.#live.set(refereeId, { address, stream, share: maxSessions, asked: maxSessions });
    this.#leads.set(address, refereeId);
    this.#missed.delete(refereeId);
    this.#listed = referees;
    for (const { id, address } of referees) if (!this.#leads.has(address)) this.#leads.set(address, id);
    this.dial(this.#missing());
    this.#share();
  }

  /**
   * Takes in that a stream has ended, and which referee refused it, where one says so. Gives another address at
   * which the bot is connected to that referee: then this one is not needed, and may have led elsewhere before.
   */
  ended(address: string, refusedBy: string): string | undefined {
    if (refusedBy !== "") this.#leads.set(address, refusedBy);
    for (const [id, home] of this.#live) if (home.address === address) this.#live.delete(id);
    const id = this.#leads.get(address) ?? "";
    const other = this.#live.get(id)?.address;
    if (other === undefined) this.#missed.add(id);
    else this.#dialled.delete(address);
    this.dial(this.#missing());
    this.#share();
    return other;
  }

  /** The addresses of referees to which the bot has no stream, and tries to open none. */
  #missing(): string[] {
    const tried = new Set([...this.#dialled].map((address) => this.#leads.get(address)));
    return this.#listed
      .filter(({ id }) => !this.#live.has(id) && !tried.has(id))
      .map(({ address }) => address);
  }

  /** The only referee that the bot can reach of several. */
  #alone(): Home | undefined {
    const reachable = this.#listed.filter(({ id }) => !this.#missed.has(id));
    const only = this.#listed.length > 1 && reachable.length === 1 ? reachable[0] : undefined;
    return only && this.#live.get(only.id);
  }

  /**
   * Asks the only referee that can be reached for all sessions of the bot, and gives back what is too many when
   * another one can be reached again.
   */
  #share(): void {
    if (this.#maxSessions === 0) return;
    const alone = this.#alone();
    for (const home of this.#live.values()) {
      const wanted = home === alone ? this.#maxSessions : home.share;
      if (wanted === home.asked) continue;
      home.asked = wanted;
      home.stream.ask(wanted);
    }
  }
}
