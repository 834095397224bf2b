// The bot's side of the Play stream: connects, answers, batches, reconnects and takes its leave.

import { setTimeout as sleep } from "node:timers/promises";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Client, Metadata, credentials, status } from "@grpc/grpc-js";
import type { ChannelCredentials, ClientDuplexStream, StatusObject } from "@grpc/grpc-js";
import { MoveSchema, PlayRequestSchema, PlayResponseSchema, TurnKind } from "./gen/referee/v1/play_pb.js";
import type {
  Event,
  Move,
  PlayRequest,
  PlayResponse,
  SessionStarted,
  Turn,
  Welcome,
} from "./gen/referee/v1/play_pb.js";
import type { Card } from "./gen/referee/v1/cards_pb.js";
import { Session } from "./session.js";

/** The cards to play, or null for a pass. */
export type Answer = readonly Card[] | null;

/**
 * Answers the turns of one session; `session` is up to date when it is called. While the promise of an answer
 * is open, the other sessions go on.
 */
export type Strategy = (turn: Turn) => Answer | Promise<Answer>;

/** Makes the strategy for a session. */
export type Bot = (session: Session) => Strategy;

export interface Options {
  readonly bot: Bot;
  /** The token that `arena bot register` printed. */
  readonly token: string;
  /** Where the referees are, as "host:port". */
  readonly addresses: readonly string[];
  /** Makes the bot say goodbye and leave. */
  readonly signal: AbortSignal;
  /** Sessions at once, on all referees together; 0 or absent leaves it to the referees. */
  readonly maxSessions?: number;
  /** For TLS; without them nothing is encrypted. */
  readonly credentials?: ChannelCredentials;
  /** Takes a line of news. */
  readonly log?: (line: string) => void;
}

/** A referee will not have the bot, and another attempt would not change that. */
export class Refused extends Error {}

const PLAY = "/referee.v1.RefereeService/Play";
const SDK = "bigtwo-bot typescript 1.0.0";
/** Milliseconds between attempts to connect: doubling, each drawn at random from half to the whole. */
const FIRST_BACKOFF = 100;
const LAST_BACKOFF = 5_000;
/** Milliseconds after which the answers so far are sent, and pings are seen to, though turns are left. */
const SLICE = 5;
/** Milliseconds that a referee has to end the stream after a goodbye. */
const FAREWELL = 5_000;
/** No move is larger, in bytes. */
const MOVE_BYTES = 128;

const FINAL = new Set([
  status.UNAUTHENTICATED,
  status.PERMISSION_DENIED,
  status.FAILED_PRECONDITION,
  status.INVALID_ARGUMENT,
]);

const CHANNEL = {
  "grpc.max_receive_message_length": -1,
  "grpc.keepalive_time_ms": 10_000,
  "grpc.keepalive_timeout_ms": 5_000,
  // Every attempt is a fresh one; how long to wait is decided here.
  "grpc.use_local_subchannel_pool": 1,
};

/** The bot in one session. */
interface Seat {
  readonly session: Session;
  readonly strategy: Strategy;
}

type Call = ClientDuplexStream<PlayRequest, PlayResponse>;

/**
 * Plays on all referees of the arena until `signal` says to leave. Throws Refused when a referee will not
 * have the bot.
 */
export async function play(options: Options): Promise<void> {
  const refused = new AbortController();
  const signal = AbortSignal.any([options.signal, refused.signal]);
  const streams = new Map<string, Promise<void>>();
  let refusal: unknown;
  const referees = new Referees((address) => {
    if (streams.has(address)) return;
    const connected = stayConnected(address, { ...options, signal }, referees)
      .catch((error: unknown) => {
        refusal ??= error;
        refused.abort();
      })
      .finally(() => streams.delete(address));
    streams.set(address, connected);
  });

  referees.meet(options.addresses);
  // A stream may make the bot meet more referees.
  while (streams.size > 0) await Promise.all(streams.values());
  if (refusal !== undefined) throw refusal;
}

/** What the bot knows of the arena's referees, each of which may have several addresses. */
class Referees {
  readonly #dial: (address: string) => void;
  /** Addresses where the bot was welcomed and is connected. */
  readonly #live = new Set<string>();
  /** Which entry of the list of referees an address led to last, where the referee said it. */
  readonly #entries = new Map<string, string>();
  #listed: readonly string[] = [];

  /** `dial` opens a stream if there is none to this address, and none is tried. */
  constructor(dial: (address: string) => void) {
    this.#dial = dial;
  }

  /** Opens a stream to each referee that has none. */
  meet(addresses: readonly string[]): void {
    for (const address of addresses) if (this.#otherWay(address) === undefined) this.#dial(address);
  }

  welcomed(address: string, { referee, referees }: Welcome): void {
    this.#live.add(address);
    this.#entries.set(address, referee || address);
    if (referees.length > 1) this.#listed = referees;
    this.meet(this.#listed);
  }

  /**
   * Takes in that a stream has ended, and which referee refused it, where one says so. Gives another address at
   * which the bot is connected to that referee: then this one is not needed, and may have led elsewhere before.
   */
  ended(address: string, refusedBy: string): string | undefined {
    this.#live.delete(address);
    this.#entries.set(address, refusedBy || address);
    const other = this.#otherWay(address);
    if (other !== undefined) this.meet(this.#listed);
    return other;
  }

  /** Another address at which the bot is connected to the same referee. */
  #otherWay(address: string): string | undefined {
    const entry = this.#entries.get(address) ?? address;
    return [...this.#live].find((other) => other !== address && this.#entries.get(other) === entry);
  }
}

async function stayConnected(address: string, options: Options, referees: Referees): Promise<void> {
  const log = options.log ?? (() => undefined);
  let backoff = FIRST_BACKOFF;
  while (!options.signal.aborted) {
    const stream = new Stream(address, options, referees, log);
    const { code, details, metadata } = await stream.ended;
    if (FINAL.has(code)) throw new Refused(`referee ${address}: ${status[code]}: ${details}`);
    if (options.signal.aborted) return;
    const other = referees.ended(address, metadata.get("referee").join(""));
    if (other !== undefined) {
      log(`referee ${address}: not needed, the bot is connected to it at ${other}`);
      return;
    }
    log(`referee ${address}: ${status[code]}: ${details}`);
    if (stream.welcomed) backoff = FIRST_BACKOFF;
    await sleep(backoff * (0.5 + Math.random() / 2), undefined, { signal: options.signal }).catch(
      () => undefined,
    );
    backoff = Math.min(2 * backoff, LAST_BACKOFF);
  }
}

/** One connection to one referee. */
class Stream {
  welcomed = false;
  /** How the stream ended; never rejected. */
  readonly ended: Promise<StatusObject>;

  readonly #bot: Bot;
  readonly #log: (line: string) => void;
  readonly #call: Call;
  readonly #seats = new Map<number, Seat>();
  #events: Event[] = [];
  #moves: Move[] = [];
  #movesAtOnce = 1;
  #awake = false;
  #over = false;

  constructor(address: string, options: Options, referees: Referees, log: (line: string) => void) {
    this.#bot = options.bot;
    this.#log = log;
    const client = new Client(address, options.credentials ?? credentials.createInsecure(), CHANNEL);
    this.#call = client.makeBidiStreamRequest(
      PLAY,
      (request: PlayRequest) => Buffer.from(toBinary(PlayRequestSchema, request)),
      (bytes: Buffer) => fromBinary(PlayResponseSchema, bytes),
      new Metadata(),
    );
    const leave = () => this.#leave();
    this.ended = new Promise((resolve) => {
      // The status says it better than the error, and always comes.
      this.#call.on("error", () => undefined);
      this.#call.on("status", (ending: StatusObject) => {
        this.#over = true;
        options.signal.removeEventListener("abort", leave);
        client.close();
        resolve(ending);
      });
    });
    this.#call.on("data", (response: PlayResponse) => {
      this.#receive(response);
      if (response.welcome === undefined) return;
      log(`${response.welcome.bot} is connected to referee ${address}`);
      referees.welcomed(address, response.welcome);
    });
    const { token, maxSessions = 0 } = options;
    this.#write({ hello: { token, protocolVersion: 1, sdk: SDK, maxSessions, listLegalPlays: true } });
    options.signal.addEventListener("abort", leave);
  }

  #write(request: Parameters<typeof create<typeof PlayRequestSchema>>[1]): void {
    if (!this.#over) this.#call.write(create(PlayRequestSchema, request));
  }

  #leave(): void {
    if (!this.welcomed) return this.#call.cancel();
    this.#write({ goodbye: {} });
    this.#over = true;
    this.#call.end();
    const timer = setTimeout(() => this.#call.cancel(), FAREWELL);
    void this.ended.then(() => clearTimeout(timer));
  }

  #receive(response: PlayResponse): void {
    if (response.ping !== undefined) this.#write({ pong: { id: response.ping.id } });
    if (response.welcome !== undefined) {
      this.welcomed = true;
      this.#movesAtOnce = Math.max(1, Math.floor(response.welcome.maxMessageBytes / MOVE_BYTES));
    }
    this.#events.push(...response.events);
    this.#wake();
  }

  /** Sees to it that events are taken and moves are sent, but only after what was written so far has left. */
  #wake(): void {
    if (this.#awake) return;
    this.#awake = true;
    setImmediate(() => this.#work());
  }

  #work(): void {
    const until = performance.now() + SLICE;
    let taken = 0;
    for (const event of this.#events) {
      if (this.#over || performance.now() > until) break;
      this.#take(event);
      taken++;
    }
    this.#events = this.#events.slice(taken);
    while (this.#moves.length > 0) this.#write({ moves: this.#moves.splice(0, this.#movesAtOnce) });
    this.#awake = false;
    if (this.#events.length > 0 && !this.#over) this.#wake();
  }

  #take({ event }: Event): void {
    switch (event.case) {
      case "sessionStarted":
        this.#sit(event.value);
        break;
      case "dealStarted":
        this.#seats.get(event.value.session)?.session.dealStarted(event.value);
        break;
      case "turn":
        this.#answer(event.value);
        break;
      case "dealEnded":
        this.#seats.get(event.value.session)?.session.dealEnded(event.value);
        break;
      case "sessionEnded":
        this.#seats.delete(event.value.session);
        break;
      case "fault":
        this.#log(`fault ${event.value.faults} of ${event.value.faultLimit}: ${event.value.reason}`);
        break;
      case "notice":
        this.#log(`notice: ${event.value.text}`);
        break;
    }
  }

  #sit(started: SessionStarted): void {
    this.#seats.delete(started.session);
    try {
      const session = new Session(started);
      this.#seats.set(started.session, { session, strategy: this.#bot(session) });
    } catch (error) {
      this.#log(`the bot failed at the start of session ${started.sessionId}: ${text(error)}`);
    }
  }

  #answer(turn: Turn): void {
    const seat = this.#seats.get(turn.session);
    const failed = (error: unknown): void => {
      this.#log(`the strategy failed in session ${seat?.session.id}: ${text(error)}`);
      this.#put(turn, seat, plain(turn));
    };
    try {
      seat?.session.happened(turn.actions);
      const known = turn.kind !== TurnKind.UNSPECIFIED && TurnKind[turn.kind] !== undefined;
      const answer = known && seat !== undefined ? seat.strategy(turn) : plain(turn);
      if (answer instanceof Promise) answer.then((cards) => this.#put(turn, seat, cards)).catch(failed);
      else this.#put(turn, seat, answer);
    } catch (error) {
      failed(error);
    }
  }

  #put({ session, sequence }: Turn, seat: Seat | undefined, cards: Answer): void {
    // The handle may name another session by now.
    if (this.#seats.get(session) !== seat) return;
    const answer = cards === null ? { passes: true } : { cards: [...cards] };
    this.#moves.push(create(MoveSchema, { session, sequence, ...answer }));
    this.#wake();
  }
}

/** The answer to a turn that the bot does not understand: a pass where that is legal, else any legal play. */
function plain(turn: Turn): Answer {
  return turn.canPass ? null : (turn.legalPlays[0]?.cards ?? null);
}

function text(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
