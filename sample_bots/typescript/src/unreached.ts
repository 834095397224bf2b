// Why nobody can be reached, in plain words: gRPC itself only repeats what the last layer said.

import { connect as connectPlainly, isIP } from "node:net";
import type { Socket } from "node:net";
import { connect } from "node:tls";
import type { SecureContextOptions } from "node:tls";

/** Milliseconds that somebody at an address may take to show who is there. */
const PROBE = 1_000;

const REASONS: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "nothing listens there"],
  ["ENOTFOUND", "host name not found"],
  ["ETIMEDOUT", "no answer; does a firewall let the bot out?"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "its certificate is not for this address"],
  ["CERT_HAS_EXPIRED", "its certificate has expired"],
  ["CERT_NOT_YET_VALID", "its certificate is not valid yet"],
  ...["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG", "EPROTO"].map(
    (code) =>
      [
        code,
        "it does not use TLS, and this side does: leave ARENA_TLS_CA out for a connection without TLS",
      ] as const,
  ),
  ...[
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "SELF_SIGNED_CERT_IN_CHAIN",
    "UNABLE_TO_GET_ISSUER_CERT",
    "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  ].map((code) => [code, "its certificate comes from no authority that ARENA_TLS_CA names"] as const),
]);

/** Why nobody can be reached at an address; undefined where that does not show. `secure` is this side's TLS. */
export async function whyUnreached(
  address: string,
  secure: SecureContextOptions | undefined,
): Promise<string | undefined> {
  const at = address.lastIndexOf(":");
  const [host, port] = [address.slice(0, at).replace(/^\[|\]$/g, ""), Number(address.slice(at + 1))];
  const there = await ended(connectPlainly({ host, port }), "connect");
  if (there !== "") return REASONS.get(there);
  const options = { host, port, ALPNProtocols: ["h2"], ...(isIP(host) ? {} : { servername: host }) };
  if (secure !== undefined) return REASONS.get(await ended(connect({ ...options, ...secure }), "secureConnect"));
  // Nothing is sent on this connection, so it does not matter whose certificate is shown.
  const encrypted = await ended(connect({ ...options, rejectUnauthorized: false }), "secureConnect");
  if (encrypted === "") return "it uses TLS, and this side does not: set ARENA_TLS_CA to a file with its authority";
  if (!(await answersAsPages(host, port))) return undefined;
  return "something other than a referee answers there (is that the port of the pages?)";
}

/** How HTTP/2 begins, with empty settings; gRPC is spoken over that. */
const GREETING = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\0\0\0\u0004\0\0\0\0\0";

/** Whether a server answers there that speaks HTTP/1 alone, as one of web pages may. */
function answersAsPages(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    let heard = "";
    const socket = connectPlainly({ host, port }, () => socket.write(GREETING));
    const end = (): void => {
      socket.destroy();
      resolve(heard.startsWith("HTTP/"));
    };
    socket.setTimeout(PROBE, end);
    socket.once("error", end).once("close", end);
    socket.on("data", (part) => {
      heard += part.toString("latin1");
      if (heard.length >= "HTTP/".length) end();
    });
  });
}

/** The code of the error with which a connection fails; empty where it comes to `event`. */
function ended(socket: Socket, event: string): Promise<string> {
  return new Promise((resolve) => {
    const end = (code: string): void => {
      socket.destroy();
      resolve(code);
    };
    socket.setTimeout(PROBE, () => end("ETIMEDOUT"));
    socket.once(event, () => end(""));
    socket.once("error", ({ code = "unknown" }: NodeJS.ErrnoException) => end(code));
  });
}
