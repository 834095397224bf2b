import assert from "node:assert/strict";
import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { test } from "node:test";
import { whyUnreached } from "../src/unreached.js";

/** A server that ends each connection with some text, and its address. */
async function speaking(text: string): Promise<[Server, string]> {
  const server = createServer((socket) => socket.on("error", () => undefined).resume().end(text));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return [server, `127.0.0.1:${(server.address() as AddressInfo).port}`];
}

test("it says nothing of a server that could be a referee", async () => {
  const [server, address] = await speaking("\0\0\0\u0004\0\0\0\0\0");
  assert.equal(await whyUnreached(address, undefined), undefined);
  await new Promise((resolve) => server.close(resolve));
});

test("it says why nobody can be reached", async () => {
  const [server, address] = await speaking("HTTP/1.1 400 Bad Request\r\n\r\n");
  assert.match((await whyUnreached(address, {})) ?? "", /^it does not use TLS, and this side does: /);
  assert.match((await whyUnreached(address, undefined)) ?? "", /^something other than a referee answers there/);
  await new Promise((resolve) => server.close(resolve));
  assert.equal(await whyUnreached(address, undefined), "nothing listens there");
  assert.equal(await whyUnreached("nowhere.invalid:8710", {}), "host name not found");
});
