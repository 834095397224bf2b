// The bot's side of the Play stream: connects, answers, batches, reconnects and takes its leave.

import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Client, Metadata, credentials, status } from "@grpc/grpc-js";
import type { ChannelCredentials, ClientDuplexStream, StatusObject } from "@grpc/grpc-js";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { MoveSchema, PlayRequestSchema, PlayResponseSchema, TurnKind } from "./gen/referee/v1/bots_pb.js";
import type {
  Closing,
  Event,
  Fault,
  Move,
  PlayRequest,
  PlayResponse,
  SessionEnded,
  SessionStarted,
  Turn,
} from "./gen/referee/v1/bots_pb.js";
import type { Card } from "./gen/referee/v1/cards_pb.js";
import { readFailure } from "./failure.js";
import { Referees } from "./referees.js";
import { Session } from "./session.js";
import { Story } from "./story.js";
import { whyUnreached } from "./unreached.js";

/** The cards to play; null, like no cards, is a pass. */
export type Answer = readonly Card[] | null;

/**
 * Answers the turns of one session; `session` is up to date when it is called, and `turn.hand` and `turn.handSizes`
 * are filled in from it. While the promise of an answer is open, the other sessions go on.
 */
export type Strategy = (turn: Turn) => Answer | Promise<Answer>;

/** Makes the strategy for a session. */
export type Bot = (session: Session) => Strategy;

/** What a move says in answer to a turn. */
type Said = Pick<MessageInitShape<typeof MoveSchema>, "cards" | "passes" | "failure">;

/** How the bot knows the referee, and the referee the bot; all values are PEM. */
export interface Tls {
  /** The authorities to trust; without them, those that Node.js trusts. */
  readonly ca?: Buffer;
  /** The bot's own certificate and its key, if the referee asks for one. */
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

export interface Options {
  readonly bot: Bot;
  /** The token that `arena bot register` printed. */
  readonly token: string;
  /** Where the referees are, as "host:port". */
  readonly addresses: readonly string[];
  /** Makes the bot take no new session, and leave when its last one has ended. */
  readonly finish: AbortSignal;
  /** Makes the bot say goodbye and leave at once. */
  readonly leave: AbortSignal;
  /** Sessions at once, on all referees together; 0 or absent leaves it to the referees. */
  readonly maxSessions?: number;
  /** For a connection with TLS; without it nothing is encrypted. */
  readonly tls?: Tls;
  /** Whether a strategy that throws ends the bot; else the referee is told, and the session goes on. */
  readonly strict?: boolean;
  /** Takes a line of news. */
  readonly log?: (line: string) => void;
}

/** What a stream has to know. */
interface Playing extends Options {
  readonly story: Story;
  /** Ends the bot with an error. */
  readonly fail: (error: unknown) => void;
}

/** A referee will not have the bot, and another attempt would not change that. */
export class Refused extends Error {}

const PLAY = "/referee.v1.BotService/Play";
const SDK = "bigtwo-bot typescript 1.0.0";
/**
 * Milliseconds between attempts to connect: doubling, each drawn at random from half to the whole. They come on top
 * of the delay that a referee asks for.
 */
const FIRST_BACKOFF = 100;
const LAST_BACKOFF = 5_000;
/** Milliseconds after which the answers so far are sent, and pings are seen to, though turns are left. */
const SLICE = 5;
/** Milliseconds that a bot which finishes is without a session before it says goodbye: one may be on its way. */
const SETTLE = 500;
/** Milliseconds that a referee has to end the stream after a goodbye. */
const FAREWELL = 5_000;
/** No move is larger, in bytes, without its cards and the text of a failure; these are the most of a character. */
const MOVE_BYTES = 30;
const CHARACTER_BYTES = 3;
/** No hand has more cards. */
const MOST_CARDS = 1000;
/** No card has a larger number. */
const LAST_CARD = 127;

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
 * Plays on all referees of the arena until `finish` or `leave` says otherwise. Throws Refused when a referee will not
 * have the bot, and what the strategy of a strict bot throws.
 */
export async function play(options: Options): Promise<void> {
  const failed = new AbortController();
  const leave = AbortSignal.any([options.leave, failed.signal]);
  const finish = AbortSignal.any([options.finish, leave]);
  const streams = new Set<Promise<void>>();
  let failure: unknown;
  const fail = (error: unknown): void => {
    failure ??= error;
    failed.abort();
  };
  const story = new Story(options.log ?? (() => undefined));
  const referees = new Referees(options.maxSessions ?? 0, (address) => {
    const connected = stayConnected(address, { ...options, story, leave, finish, fail }, referees)
      .catch(fail)
      .finally(() => streams.delete(connected));
    streams.add(connected);
  });

  referees.dial(options.addresses);
  // A stream may make the bot meet more referees.
  while (streams.size > 0) await Promise.all(streams);
  story.sumUp();
  if (failure !== undefined) throw failure;
}

/** Keeps a stream to a referee. A bot that finishes comes back only to sessions that are open. */
async function stayConnected(address: string, options: Playing, referees: Referees): Promise<void> {
  const log = options.log ?? (() => undefined);
  let backoff = FIRST_BACKOFF;
  let owes = false;
  let told = "";
  let until = options.finish;
  while (!until.aborted) {
    const stream = new Stream(address, options, referees, log, owes);
    const failure = readFailure(await stream.ended);
    if (failure.final) throw new Refused(`referee ${address}: ${failure.text}`);
    owes = stream.owes;
    until = owes ? options.leave : options.finish;
    if (until.aborted) return;
    const other = referees.ended(address, failure.refereeId);
    if (other !== undefined) {
      log(`referee ${address}: not needed, the bot is connected to it at ${other}`);
      return;
    }
    if (stream.welcomed) told = "";
    if (failure.kind !== told) {
      told = failure.kind; // what stays the same is told once
      const unreached = failure.kind === status[status.UNAVAILABLE];
      const why = unreached ? await whyUnreached(address, options.tls) : undefined;
      log(`referee ${address}: ${why ?? failure.text}; trying again`);
    }
    if (stream.welcomed) backoff = FIRST_BACKOFF;
    const wait = Math.max(failure.delay ?? 0, stream.retryDelay) + backoff * (0.5 + Math.random() / 2);
    await sleep(wait, undefined, { signal: until }).catch(() => undefined);
    backoff = Math.min(2 * backoff, LAST_BACKOFF);
  }
}

/** One connection to one referee. */
class Stream {
  welcomed = false;
  /** Whether sessions are open, here or, before the welcome, on the stream before this one. */
  owes: boolean;
  /** How the stream ended; never rejected. */
  readonly ended: Promise<StatusObject>;

  readonly #bot: Bot;
  readonly #fail: ((error: unknown) => void) | undefined;
  readonly #finish: AbortSignal;
  readonly #story: Story;
  readonly #log: (line: string) => void;
  readonly #call: Call;
  /** Open sessions; undefined stands for one in which the bot failed at the start. */
  readonly #seats = new Map<number, Seat | undefined>();
  #closing: Closing | undefined;
  #settling: NodeJS.Timeout | undefined;
  #events: Event[] = [];
  #moves: Move[] = [];
  #mostBytes = 0;
  #awake = false;
  #over = false;

  constructor(
    address: string,
    options: Playing,
    referees: Referees,
    log: (line: string) => void,
    owes: boolean,
  ) {
    this.owes = owes;
    this.#bot = options.bot;
    this.#fail = options.strict === true ? options.fail : undefined;
    this.#finish = options.finish;
    this.#story = options.story;
    this.#log = log;
    // No proxy of the environment leads to this machine.
    const here = /^(localhost|127\.[0-9.]+|\[::1\]):/.test(address);
    const channel = here ? { ...CHANNEL, "grpc.enable_http_proxy": 0 } : CHANNEL;
    const client = new Client(address, secured(options.tls), channel);
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${options.token}`);
    this.#call = client.makeBidiStreamRequest(
      PLAY,
      (request: PlayRequest) => Buffer.from(toBinary(PlayRequestSchema, request)),
      (bytes: Buffer) => fromBinary(PlayResponseSchema, bytes),
      metadata,
    );
    const finish = () => this.#finishes();
    const leave = () => this.#leave();
    this.ended = new Promise((resolve) => {
      // The status says it better than the error, and always comes.
      this.#call.on("error", () => undefined);
      this.#call.on("status", (ending: StatusObject) => {
        this.#over = true;
        clearTimeout(this.#settling);
        options.finish.removeEventListener("abort", finish);
        options.leave.removeEventListener("abort", leave);
        client.close();
        resolve(ending);
      });
    });
    this.#call.on("data", (response: PlayResponse) => {
      this.#receive(response);
      if (response.welcome === undefined) return;
      log(`${response.welcome.bot} is connected to referee ${address}`);
      if (options.finish.aborted) this.#finishes();
      else referees.welcomed(address, response.welcome, this);
    });
    this.#hello(options.maxSessions ?? 0);
    options.leave.addEventListener("abort", leave);
    options.finish.addEventListener("abort", finish);
  }

  /** Asks for another number of sessions at once. */
  ask(sessions: number): void {
    if (!this.#finish.aborted) this.#write({ capacity: { maxSessions: sessions } });
  }

  /** The least wait in milliseconds after the end of the stream, where the referee announced that it is closing. */
  get retryDelay(): number {
    return this.#closing?.retryDelay === undefined ? 0 : durationMs(this.#closing.retryDelay);
  }

  #hello(maxSessions: number): void {
    const sessions = maxSessions > 0 ? { maxSessions } : {};
    this.#write({ hello: { protocolVersion: 1, sdk: SDK, wants: { legalPlays: true }, ...sessions } });
  }

  #write(request: Parameters<typeof create<typeof PlayRequestSchema>>[1]): void {
    if (!this.#over) this.#call.write(create(PlayRequestSchema, request));
  }

  /** Takes no new session, and leaves when the last one has ended. */
  #finishes(): void {
    if (this.#over) return;
    if (this.welcomed) {
      this.#write({ capacity: { maxSessions: 0 } });
      this.#settle();
    } else if (!this.owes) this.#leave();
  }

  /** Leaves after a while without a session, if the bot finishes. */
  #settle(): void {
    clearTimeout(this.#settling);
    if (!this.#finish.aborted || this.#seats.size > 0) return;
    this.#settling = setTimeout(() => {
      this.owes = false;
      this.#leave();
    }, SETTLE);
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
      this.#mostBytes = response.welcome.maxMessageBytes;
    }
    if (response.closing !== undefined) {
      this.#closing = response.closing;
      this.#log(`the referee is closing: ${response.closing.reason}`);
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
    while (this.#moves.length > 0) this.#write({ moves: this.#moves.splice(0, this.#fitting()) });
    this.#awake = false;
    if (taken > 0) {
      this.owes = this.#seats.size > 0;
      this.#settle();
    }
    if (this.#events.length > 0 && !this.#over) this.#wake();
  }

  /** How many of the waiting moves one message can have: at least one, for the referee has room for any. */
  #fitting(): number {
    let [count, bytes] = [0, 0];
    for (const { cards, failure } of this.#moves) {
      bytes += MOVE_BYTES + cards.length + CHARACTER_BYTES * failure.length;
      if (count > 0 && bytes > this.#mostBytes) break;
      count++;
    }
    return count;
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
        this.#end(event.value);
        break;
      case "fault":
        this.#fault(event.value);
        break;
      case "notice":
        this.#log(`notice: ${event.value.text}`);
        break;
    }
  }

  #fault({ session, faults, faultLimit, reason }: Fault): void {
    const seat = this.#seats.get(session);
    const where = seat === undefined ? "" : `session ${seat.session.id} deal ${seat.session.deal}: `;
    this.#log(`${where}fault ${faults} of ${faultLimit}: ${reason}`);
  }

  #sit(started: SessionStarted): void {
    this.#seats.set(started.session, undefined);
    try {
      const session = new Session(started);
      this.#story.began(session, started);
      this.#seats.set(started.session, { session, strategy: this.#strategy(session) });
    } catch (error) {
      this.#log(`session ${started.sessionId} cannot be read: ${text(error)}`);
      this.#fail?.(error);
    }
  }

  /** The bot's strategy for a session; of a bot that fails to make one, a strategy that fails each time. */
  #strategy(session: Session): Strategy {
    try {
      return this.#bot(session);
    } catch (error) {
      this.#log(`the bot failed at the start of session ${session.id}: ${text(error)}`);
      this.#fail?.(error);
      return () => {
        throw error;
      };
    }
  }

  #end(ended: SessionEnded): void {
    const seat = this.#seats.get(ended.session);
    if (seat !== undefined) this.#story.ended(seat.session, ended);
    this.#seats.delete(ended.session);
  }

  #answer(turn: Turn): void {
    const seat = this.#seats.get(turn.session);
    const failed = (error: unknown): void => {
      this.#log(`the strategy failed in session ${seat?.session.id}: ${text(error)}`);
      this.#fail?.(error);
      this.#put(turn, seat, { failure: brief(error) });
    };
    try {
      seat?.session.happened(turn.actions);
      if (seat !== undefined) Object.assign(turn, { hand: [...seat.session.hand], handSizes: [...seat.session.counts] });
      const known = turn.kind !== TurnKind.UNSPECIFIED && TurnKind[turn.kind] !== undefined;
      const answer = known && seat !== undefined ? seat.strategy(turn) : plain(turn);
      if (answer instanceof Promise) answer.then((cards) => this.#put(turn, seat, said(cards))).catch(failed);
      else this.#put(turn, seat, said(answer));
    } catch (error) {
      failed(error);
    }
  }

  #put({ session, sequence }: Turn, seat: Seat | undefined, said: Said): void {
    // The handle may name another session by now.
    if (this.#seats.get(session) !== seat) return;
    this.#moves.push(create(MoveSchema, { session, sequence, ...said }));
    this.#wake();
  }
}

/** The answer to a turn that the bot does not understand: a pass where that is legal, else any legal play. */
function plain(turn: Turn): Answer {
  return turn.canPass ? null : (turn.legalPlays[0]?.cards ?? null);
}

/** What a move says of an answer; no cards are a pass. Throws TypeError for what is none, which would end the stream. */
function said(answer: unknown): Said {
  if (answer === null) return { passes: true };
  const cards = Array.isArray(answer) ? Array.from(answer as unknown[]) : undefined; // it may change before it is sent
  if (cards === undefined || !cards.every(isCard)) {
    const found = inspect(answer, { breakLength: Infinity, maxArrayLength: 10 }).slice(0, 100);
    throw new TypeError(`the strategy answered ${found}; an array of cards or null is expected`);
  }
  if (cards.length > MOST_CARDS) throw new RangeError(`the strategy answered ${cards.length} cards; no play has so many`);
  return cards.length === 0 ? { passes: true } : { cards };
}

function isCard(card: unknown): card is Card {
  return Number.isInteger(card) && (card as number) > 0 && (card as number) <= LAST_CARD;
}

/** An error and its innermost calls, without the folders of files, for the referee: it keeps 1,000 characters. */
function brief(error: unknown): string {
  const lines = text(error).split("\n").slice(0, 4);
  return lines.join("\n").replaceAll(/(?:file:\/\/)?\/[^\s():]*\//g, "").slice(0, 1000);
}

function secured(tls: Tls | undefined): ChannelCredentials {
  if (tls === undefined) return credentials.createInsecure();
  return credentials.createSsl(tls.ca ?? null, tls.key ?? null, tls.cert ?? null);
}

/** What was thrown, in words: never empty, whatever it is. */
function text(error: unknown): string {
  const told: unknown = error instanceof Error ? (error.stack ?? error.message) : error;
  return typeof told === "string" && told !== "" ? told : inspect(error);
}
