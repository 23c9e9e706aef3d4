/**
 * The client alone, without the engine: for programs whose budgets are kept by a Tidegate Worker or server.
 *
 * @module tidegate/client
 */

import { assertFields, assertRemote, invalidArgument, invalidUrl } from "./arguments.ts";
import { type Backend, Client, type UnavailableOptions } from "./hotkv.ts";
import { places } from "./places.ts";
import { HttpTransport } from "./transports/http.ts";
import type { Rate, ValveOptions } from "./valve/index.ts";
import { ValveBase } from "./valve/valve.ts";

export { HotKVError, type HotKVErrorDetails } from "./errors.ts";
export type { Client } from "./hotkv.ts";
export type { Argument, Command, Reply } from "./reply.ts";
export type * from "./results.ts";
export type { Transport } from "./transport.ts";
export * from "./valve/index.ts";

/** Where a {@link HotKV} keeps its budgets. */
export interface HotKVOptions extends UnavailableOptions {
  /** `https://HOST`: a Tidegate Worker. In Node, Deno and Bun also `hotkv://HOST:PORT`, or `hotkvs://` over TLS. */
  readonly url: string | URL;
  /** The token of an `https://` Worker. */
  readonly token?: string;
  /** The password of a `hotkv://` server; one in the URL counts as well. */
  readonly password?: string;
  /** Milliseconds to wait for a connection and for each reply; 5,000 by default. */
  readonly timeoutMs?: number;
}

/**
 * HotKV's client over the network: the same methods as everywhere, and no engine inside.
 *
 * ```ts
 * const client = new HotKV({ url: "https://limits.example.com", token });
 * const result = await client.gcraLimit("api:user:42", 60000, 10);
 * ```
 */
export class HotKV extends Client {
  constructor(options: HotKVOptions) {
    super(opener(options), options);
  }
}

function opener(options = {} as HotKVOptions): () => Backend {
  assertFields(options, ["url", "token", "password", "timeoutMs", "onUnavailable"]);
  assertRemote(options);
  const given = String(options.url);
  const url = URL.canParse(given) ? given : "";
  const { socket } = places;
  if (/^https?:\/\//.test(url)) return () => ({ transport: new HttpTransport(url, options) });
  if (socket && /^hotkvs?:\/\//.test(url)) return socket(url, options);
  throw invalidUrl(given, `https://HOST${socket ? " or hotkv://HOST:PORT" : ""}; memory: and file: are in tidegate`);
}

/** Paces jobs against a policy that every worker of a namespace shares, in the store it is given. */
export class Valve<const R extends Rate> extends ValveBase<R> {
  constructor(options: ValveOptions<R>) {
    super(options, () => {
      throw invalidArgument("store", undefined, "a HotKV client");
    });
  }
}
