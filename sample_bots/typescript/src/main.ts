// The program: reads the environment, plays until it is told to leave, and gives an exit status.

import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { Refused, play } from "./client.js";
import type { Tls } from "./client.js";
import { planner } from "./strategy.js";

const TLS_CA = "ARENA_TLS_CA";
const TLS_CERTIFICATE = "ARENA_TLS_CLIENT_CERTIFICATE";
const TLS_KEY = "ARENA_TLS_CLIENT_KEY";

/** A host, in brackets if it has colons, and a port. */
const ADDRESS = /^(\[[^\]]+\]|[^:[\]/]+):[1-9]\d{0,4}$/;

class SettingError extends Error {}

function log(line: string): void {
  console.error(`${new Date().toISOString()} ${line}`);
}

function token(): string {
  const value = process.env["ARENA_TOKEN"] ?? "";
  if (value === "")
    throw new SettingError("ARENA_TOKEN: not set; it is the token that `arena bot register` printed");
  return value;
}

function addresses(): string[] {
  const value = process.env["ARENA_REFEREE"] ?? "127.0.0.1:8710";
  const list = value
    .split(",")
    .map((address) => address.trim())
    .filter((address) => address !== "");
  const wrong = list.find((address) => !ADDRESS.test(address));
  if (wrong !== undefined) {
    const shape = "it takes a host and a port, such as 127.0.0.1:8710";
    throw new SettingError(`ARENA_REFEREE: "${wrong}" is not an address: ${shape}`);
  }
  if (list.length === 0) throw new SettingError("ARENA_REFEREE: names no referee");
  return list;
}

function tls(): Tls | undefined {
  const system = process.env[TLS_CA] === "system";
  const ca = system ? null : file(TLS_CA);
  const certificate = file(TLS_CERTIFICATE);
  const key = file(TLS_KEY);
  if (ca === null && !system) {
    if (certificate ?? key) throw new SettingError(`${TLS_CA}: not set, though a certificate or a key is`);
    return undefined;
  }
  // A file without any certificate would pass as an empty list of authorities.
  if (ca !== null) check(TLS_CA, () => createSecureContext({ cert: ca }));
  const trusted = ca === null ? {} : { ca };
  if (certificate === null && key === null) return trusted;
  if (certificate === null || key === null) {
    throw new SettingError(`${TLS_CERTIFICATE}, ${TLS_KEY}: only one of them is set`);
  }
  check(`${TLS_CERTIFICATE}, ${TLS_KEY}`, () => createSecureContext({ cert: certificate, key }));
  return { ...trusted, cert: certificate, key };
}

function file(name: string): Buffer | null {
  const path = process.env[name] ?? "";
  return path === "" ? null : check(name, () => readFileSync(path));
}

function check<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new SettingError(`${name}: ${(error as Error).message}`);
  }
}

/** Calls `happened` at the next SIGINT or SIGTERM; a further one ends the program. */
function onSignal(happened: () => void): void {
  const names = ["SIGINT", "SIGTERM"] as const;
  const once = (): void => {
    for (const name of names) process.removeListener(name, once);
    happened();
  };
  for (const name of names) process.once(name, once);
}

async function main(): Promise<void> {
  // grpc-js gives TLS the host as a name even where it is an IP address, and Node.js would warn of that (DEP0123).
  process.noDeprecation = true;
  const [finishing, leaving] = [new AbortController(), new AbortController()];
  onSignal(() => {
    finishing.abort();
    onSignal(() => leaving.abort());
  });
  try {
    const secured = tls();
    await play({
      bot: planner,
      token: token(),
      addresses: addresses(),
      ...(secured === undefined ? {} : { tls: secured }),
      strict: (process.env["ARENA_STRICT"] ?? "") !== "",
      finish: finishing.signal,
      leave: leaving.signal,
      log,
    });
  } catch (error) {
    if (!(error instanceof Refused || error instanceof SettingError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}

await main();
