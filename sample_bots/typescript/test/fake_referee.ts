// A referee for tests: every stream is a script that reads what the bot says and sends what it likes.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { anyPack, durationFromMs } from "@bufbuild/protobuf/wkt";
import { Metadata, Server, ServerCredentials, status } from "@grpc/grpc-js";
import type { ServerDuplexStream } from "@grpc/grpc-js";
import { ErrorInfoSchema, RetryInfoSchema, StatusSchema } from "../src/gen/google/rpc/details_pb.js";
import { PlayRequestSchema, PlayResponseSchema } from "../src/gen/referee/v1/bots_pb.js";
import type { PlayRequest } from "../src/gen/referee/v1/bots_pb.js";

export type Response = MessageInitShape<typeof PlayResponseSchema>;
type Welcome = NonNullable<Response["welcome"]>;
/** Ids of an arena's referees, and their addresses. */
export type Arena = Readonly<Record<string, string>>;

/** One stream of a bot. */
export class FakeStream {
  readonly #call: ServerDuplexStream<PlayRequest, Uint8Array>;
  readonly #requests: AsyncIterator<PlayRequest>;

  constructor(call: ServerDuplexStream<PlayRequest, Uint8Array>) {
    this.#call = call;
    this.#requests = call.iterator({ destroyOnReturn: false });
  }

  /** Whether the bot broke the stream off. */
  get cancelled(): boolean {
    return this.#call.cancelled;
  }

  /** What the bot says next; undefined when it has ended the stream. */
  async read(): Promise<PlayRequest | undefined> {
    const next = await this.#requests.next();
    return next.done === true ? undefined : next.value;
  }

  send(response: Response): void {
    this.sendBytes(toBinary(PlayResponseSchema, create(PlayResponseSchema, response)));
  }

  sendBytes(bytes: Uint8Array): void {
    this.#call.write(bytes);
  }

  /** The token in the call's metadata. */
  get authorization(): unknown {
    return this.#call.metadata.get("authorization")[0];
  }

  /** Reads the hello and answers it as the referee with this id, in an arena of these referees. */
  async welcome(refereeId = "a", arena: Arena = {}, fields: Welcome = {}): Promise<PlayRequest> {
    const first = await this.read();
    if (first?.hello === undefined) throw new Error("no hello");
    const referees = Object.entries(arena).map(([id, address]) => ({ id, address }));
    const usual = { bot: "owner/bot@1", maxSessions: 4, maxMessageBytes: 1 << 20 };
    this.send({ welcome: { ...usual, refereeId, referees, ...fields } });
    return first;
  }

  end(): void {
    this.#call.end();
  }

  fail(code: status, details: string, metadata = new Metadata()): void {
    this.#call.emit("error", { code, details, metadata });
  }

  /** Ends the stream for one of the referee's reasons; without a delay it is final. */
  refuse(code: status, reason: string, delay?: number, more: Record<string, string> = {}): void {
    const info = create(ErrorInfoSchema, { reason, domain: "bigtwo.referee", metadata: more });
    const details = [anyPack(ErrorInfoSchema, info)];
    if (delay !== undefined) {
      const retry = create(RetryInfoSchema, { retryDelay: durationFromMs(delay) });
      details.push(anyPack(RetryInfoSchema, retry));
    }
    const metadata = new Metadata();
    const bytes = toBinary(StatusSchema, create(StatusSchema, { details }));
    metadata.set("grpc-status-details-bin", Buffer.from(bytes));
    this.fail(code, "in words", metadata);
  }

  /** Refuses the bot as the referee with this id, where it is connected already. */
  refuseAt(refereeId: string): void {
    this.refuse(status.ABORTED, "ALREADY_CONNECTED", 0, { referee_id: refereeId });
  }
}

/** A server on a free port. The first stream runs the first script, and so on; the last serves all others. */
export class FakeReferee {
  /** Streams opened so far. */
  streams = 0;
  readonly #server = new Server();
  readonly #scripts: ((stream: FakeStream) => Promise<void>)[];

  private constructor(scripts: ((stream: FakeStream) => Promise<void>)[]) {
    this.#scripts = scripts;
  }

  static async start(...scripts: ((stream: FakeStream) => Promise<void>)[]): Promise<[FakeReferee, string]> {
    const referee = new FakeReferee(scripts);
    return [referee, await referee.#listen()];
  }

  stop(): void {
    this.#server.forceShutdown();
  }

  #listen(): Promise<string> {
    const play = {
      path: "/referee.v1.BotService/Play",
      requestStream: true,
      responseStream: true,
      requestSerialize: (request: PlayRequest) => Buffer.from(toBinary(PlayRequestSchema, request)),
      requestDeserialize: (bytes: Buffer) => fromBinary(PlayRequestSchema, bytes),
      responseSerialize: (bytes: Uint8Array) => Buffer.from(bytes),
      responseDeserialize: (bytes: Buffer) => bytes,
    } as const;
    this.#server.addService(
      { play },
      {
        play: (call: ServerDuplexStream<PlayRequest, Uint8Array>) => {
          const script = this.#scripts[Math.min(this.streams++, this.#scripts.length - 1)];
          const stream = new FakeStream(call);
          script?.(stream).catch((error: unknown) => stream.fail(status.INTERNAL, String(error)));
        },
      },
    );
    return new Promise((resolve, reject) => {
      this.#server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
        if (error !== null) reject(error);
        else resolve(`127.0.0.1:${port}`);
      });
    });
  }
}
