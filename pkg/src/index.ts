/**
 * Exact, atomic rate limiting in this process, in a file, on the edge or on a server: {@link HotKV} asks for one decision,
 * {@link Valve} paces jobs, {@link Engine} answers without a promise.
 *
 * `tidegate/inline` is the same with the module inside, for bundlers that can't take files.
 *
 * @module tidegate
 */

import { assertFields, assertRemote, invalidArgument, invalidUrl } from "./arguments.ts";
import { assertEngineOptions, Engine, type EngineOptions } from "./engine.ts";
import { HotKVError } from "./errors.ts";
import { type Backend, Client, type UnavailableOptions } from "./hotkv.ts";
import { places } from "./places.ts";
import type { Command, Reply } from "./reply.ts";
import { assertEnded } from "./transaction.ts";
import { HttpTransport } from "./transports/http.ts";
import type { Rate, ValveOptions } from "./valve/index.ts";
import { ValveBase } from "./valve/valve.ts";

export type { EngineStats } from "./engine.ts";
export type { HotKVErrorDetails } from "./errors.ts";
export type { Client } from "./hotkv.ts";
export type { Argument, Command, Reply } from "./reply.ts";
export type * from "./results.ts";
export type { Flow, Session } from "./session.ts";
export { type SimulatedRule, type SimulationOptions, type SimulationResult, simulate } from "./simulate.ts";
export type { Transport } from "./transport.ts";
export * from "./valve/index.ts";
export { Engine, type EngineOptions, HotKVError };

/** Where a {@link HotKV} keeps its budgets, and how. */
export interface HotKVOptions extends EngineOptions, UnavailableOptions {
  /**
   * - `memory:` (the default): in this process, gone when it ends;
   * - `file:PATH`: in an SQLite database, by `node:sqlite`; one process at a time has it open;
   * - `https://HOST`: a Tidegate Worker;
   * - `hotkv://HOST:PORT`, or `hotkvs://` over TLS: a server that speaks RESP, such as `tidegate serve`.
   */
  readonly url?: string | URL;
  /** The token of an `https://` Worker. */
  readonly token?: string;
  /** The password of a `hotkv://` server; one in the URL counts as well. */
  readonly password?: string;
  /** Milliseconds to wait for a connection and for each reply; 5,000 by default. Not for `memory:`. */
  readonly timeoutMs?: number;
}

/**
 * HotKV's client: rate limits with one await.
 *
 * ```ts
 * import { HotKV } from "tidegate";
 *
 * const client = new HotKV();
 * const result = await client.gcraLimit("api:user:42", 60_000, 10);
 * if (result.denied) console.log(`slow down, retry in ${result.retryAfterMs} ms`);
 * else console.log(`${result.remaining} left`); // 9 left
 * ```
 *
 * Every method rejects with a {@link HotKVError}, and changes nothing, when an argument is wrong or the command fails.
 */
export class HotKV extends Client {
  constructor(options: HotKVOptions = {}) {
    super(opener(options), options);
  }

  /** Several commands in one go; their replies in order. A command's error is in its place. `MULTI` comes with its `EXEC`. */
  override async pipeline(commands: readonly Command[]): Promise<readonly Reply[]> {
    assertEnded(commands);
    return super.pipeline(commands);
  }
}

const KINDS = "memory:, file:PATH, https://HOST or hotkv://HOST:PORT";
const FIELDS = ["url", "token", "password", "timeoutMs", "onUnavailable", "maxKeys", "maxLimiters", "clock"];

function opener(options: HotKVOptions): () => Backend {
  // Ignored, it would leave every isolate with budgets of its own.
  const { binding } = Object(options) as { readonly binding?: unknown };
  if (binding !== undefined) throw invalidArgument("binding", binding, "given to the HotKV of tidegate/workers");
  assertFields(options, FIELDS);
  assertEngineOptions(options);
  const { maxKeys, maxLimiters, clock } = options;
  const url = String(options.url ?? "memory:");
  if (url === "memory:") return () => ({ engine: new Engine({ maxKeys, maxLimiters, clock } as EngineOptions) });
  const file = url.startsWith("file:");
  if (!file && !URL.canParse(url)) throw invalidUrl(url, KINDS);
  if (!file) assertRemote(options);
  if (/^https?:\/\//.test(url)) return () => ({ transport: new HttpTransport(url, options) });
  if (file || /^hotkvs?:\/\//.test(url)) {
    const open = file ? places.file : places.socket;
    if (open !== undefined) return open(url, options);
    throw invalidUrl(url, "memory: or https://HOST in a browser or a Worker");
  }
  throw invalidUrl(url, KINDS);
}

/**
 * Paces jobs against a policy that every worker of a namespace shares.
 *
 * ```ts
 * import { Valve } from "tidegate";
 *
 * const valve = new Valve({ namespace: "provider", rate: { limit: 10, interval: "1s", burst: 5 } });
 * console.log(await valve.run(() => "called the provider")); // called the provider
 * ```
 *
 * Budgets are kept in this process unless a `store` is given.
 */
export class Valve<const R extends Rate> extends ValveBase<R> {
  constructor(options: ValveOptions<R>) {
    super(options, () => new HotKV());
  }
}
