// A referee for tests: every stream is a script that reads what the bot says and sends what it likes.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Metadata, Server, ServerCredentials, status } from "@grpc/grpc-js";
import type { ServerDuplexStream } from "@grpc/grpc-js";
import { PlayRequestSchema, PlayResponseSchema } from "../src/gen/referee/v1/play_pb.js";
import type { PlayRequest } from "../src/gen/referee/v1/play_pb.js";

export type Response = MessageInitShape<typeof PlayResponseSchema>;

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

  /** Reads the hello and answers it. */
  async welcome(referees: string[] = [], maxMessageBytes = 1 << 20, referee = ""): Promise<PlayRequest> {
    const first = await this.read();
    if (first?.hello === undefined) throw new Error("no hello");
    this.send({ welcome: { bot: "owner/bot@1", maxSessions: 4, maxMessageBytes, referees, referee } });
    return first;
  }

  end(): void {
    this.#call.end();
  }

  fail(code: status, details: string, metadata = new Metadata()): void {
    this.#call.emit("error", { code, details, metadata });
  }

  /** Refuses the bot as the referee with this entry in the list, where it is connected already. */
  refuseAt(entry: string): void {
    const metadata = new Metadata();
    metadata.set("referee", entry);
    this.fail(status.ALREADY_EXISTS, "connected already", metadata);
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
      path: "/referee.v1.RefereeService/Play",
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
