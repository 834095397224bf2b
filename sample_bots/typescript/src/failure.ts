// Why a stream ended, as a bot acts on it.

import { fromBinary } from "@bufbuild/protobuf";
import type { Message } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import { anyUnpack, durationMs } from "@bufbuild/protobuf/wkt";
import type { Any } from "@bufbuild/protobuf/wkt";
import { status } from "@grpc/grpc-js";
import type { StatusObject } from "@grpc/grpc-js";
import { ErrorInfoSchema, RetryInfoSchema, StatusSchema } from "./gen/google/rpc/details_pb.js";

/** That of every reason which comes from a referee. */
const DOMAIN = "bigtwo.referee";

export interface Failure {
  /** The name of a referee.v1.ErrorReason without its prefix; empty where gRPC itself or a proxy ended the stream. */
  readonly reason: string;
  /** The reason, or gRPC's name of the status. */
  readonly kind: string;
  /** The referee that has a stream of the bot already; empty for other reasons. */
  readonly refereeId: string;
  /** The least wait before the next attempt in milliseconds; undefined where the referee names none. */
  readonly delay: number | undefined;
  /** Whether another attempt would fail in the same way: the referee gave a reason and no delay. */
  readonly final: boolean;
  /** For the log. */
  readonly text: string;
}

/** Reads how a stream ended. */
export function readFailure({ code, details: text, metadata }: StatusObject): Failure {
  const [bytes] = metadata.get("grpc-status-details-bin");
  const details = bytes instanceof Uint8Array ? unpackStatus(bytes) : [];
  const info = find(details, ErrorInfoSchema);
  const retryDelay = find(details, RetryInfoSchema)?.retryDelay;
  const reason = info?.domain === DOMAIN ? info.reason : "";
  const delay = retryDelay && durationMs(retryDelay);
  const kind = reason || (status[code] ?? "");
  return {
    reason,
    kind,
    refereeId: (reason !== "" && info?.metadata["referee_id"]) || "",
    delay,
    final: reason !== "" && delay === undefined,
    text: `${kind}: ${text}`,
  };
}

function unpackStatus(bytes: Uint8Array): readonly Any[] {
  try {
    return fromBinary(StatusSchema, bytes).details;
  } catch {
    return []; // a proxy may write what it likes
  }
}

function find<T extends Message>(details: readonly Any[], schema: GenMessage<T>): T | undefined {
  for (const detail of details) {
    const found = anyUnpack(detail, schema);
    if (found !== undefined) return found;
  }
  return undefined;
}
