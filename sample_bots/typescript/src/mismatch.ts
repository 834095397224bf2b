// Whether exactly one of the two sides uses TLS: gRPC itself only says that nobody can be reached.

import { connect } from "node:tls";

/** Milliseconds that somebody at an address may take to show whether TLS is spoken there. */
const PROBE = 1_000;

/** Why no connection is possible where exactly one side uses TLS; undefined elsewhere. `secure`: this side does. */
export async function tlsMismatch(address: string, secure: boolean): Promise<string | undefined> {
  const spoken = await speaksTls(address);
  if (spoken === true && !secure)
    return "it uses TLS, and this side does not: set ARENA_TLS_CA to a file with its authority";
  if (spoken === false && secure)
    return "it does not use TLS, and this side does: leave ARENA_TLS_CA out for a connection without TLS";
  return undefined;
}

/** Undefined where it does not show. */
function speaksTls(address: string): Promise<boolean | undefined> {
  const at = address.lastIndexOf(":");
  const [host, port] = [address.slice(0, at).replace(/^\[|\]$/g, ""), Number(address.slice(at + 1))];
  return new Promise((resolve) => {
    // Nothing is sent on this connection, so it does not matter whose certificate is shown.
    const socket = connect({ host, port, rejectUnauthorized: false, ALPNProtocols: ["h2"] });
    const end = (spoken: boolean | undefined): void => {
      socket.destroy();
      resolve(spoken);
    };
    socket.setTimeout(PROBE, () => end(undefined));
    socket.once("secureConnect", () => end(true));
    socket.once("error", (error: NodeJS.ErrnoException) => end(noTls(error) ? false : undefined));
  });
}

function noTls({ code = "" }: NodeJS.ErrnoException): boolean {
  return ["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG", "EPROTO"].includes(code);
}
