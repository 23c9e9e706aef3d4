import { assertOneOf } from "./arguments.ts";
import * as calls from "./calls.ts";
import type { Engine } from "./engine.ts";
import { clientClosed, HotKVError } from "./errors.ts";
import type { Argument, Command, Reply } from "./reply.ts";
import type { GcraLimitResult, LimiterOptions, RateLimitCheckResult, RateLimitStats, SetOptions } from "./results.ts";
import type { Transport } from "./transport.ts";

/** What a client talks to: an engine in this process, or the way to one that is elsewhere. */
export type Backend = { readonly engine: Engine } | { readonly transport: Transport };

/** What a client does when its store does not answer. */
export interface UnavailableOptions {
  /**
   * What `gcraLimit` and `rateLimitCheck` do then: reject (the default), or resolve with a decision that is marked
   * `unavailable` and holds `NaN` for whatever only the store knows.
   */
  readonly onUnavailable?: "throw" | "allow" | "deny";
}

/**
 * HotKV's client over an engine in this process or the way to one elsewhere, which is opened by the first call. `HotKV` of `tidegate` and of
 * `tidegate/client` are this class with their ways of opening one.
 */
export abstract class Client implements AsyncDisposable {
  #open: (() => Backend) | undefined;
  #engine: Engine | undefined;
  #transport: Transport | undefined;
  readonly #onUnavailable: "throw" | "allow" | "deny";

  /** @internal */
  protected constructor(open: () => Backend, { onUnavailable = "throw" }: UnavailableOptions = {}) {
    assertOneOf("onUnavailable", onUnavailable, ["throw", "allow", "deny"]);
    this.#open = open;
    this.#onUnavailable = onUnavailable;
  }

  /**
   * Allows up to `burst` units per `period` milliseconds on `key`, spread evenly: `burst` at once after a quiet time, then one
   * every `period / burst`. `count` is how many units this request uses. A request that is denied uses none.
   *
   * The rule is GCRA, on exact fractions; the command is `GCRA.LIMIT`.
   *
   * @param key Whose budget it is: text of at most 4,096 bytes in UTF-8.
   * @param period Milliseconds, 1 to 2^53 - 1, as the other numbers.
   * @throws HotKVError `"INVALID_ARGUMENT"`; `"WRONGTYPE"` where the key holds something else; `"OOM"` when `maxKeys` keys are
   * live; `"STORE_UNAVAILABLE"`. Nothing is spent then.
   */
  async gcraLimit(key: string, period: number, burst: number, count = 1): Promise<GcraLimitResult> {
    const engine = this.#engine ?? this.#ready();
    if (engine !== undefined) return engine.gcraLimit(key, period, burst, count);
    return await this.#decide(calls.gcraLimit(key, period, burst, count), (allowed) =>
      allowed ? [0, burst, NaN, -1, NaN] : [1, burst, NaN, NaN, NaN],
    );
  }

  /** Forgets the keys' states; how many existed. */
  async gcraReset(...keys: string[]): Promise<number> {
    return this.#run(calls.gcraReset(keys));
  }

  /**
   * Makes a named limiter of `limit` units per `windowMs` milliseconds, a sliding window unless `algo` says otherwise.
   *
   * ```ts
   * import { HotKV } from "tidegate";
   *
   * const client = new HotKV();
   * await client.rateLimitCreate("uploads", 20, 4000, { algo: "token_bucket", refill: 5 });
   * const { allowed, remaining } = await client.rateLimitCheck("uploads", "user:42", { cost: 5 });
   * console.log(allowed, remaining); // true 15
   * ```
   *
   * @throws HotKVError `"INVALID_ARGUMENT"`, or `"ERR"` when there is a limiter of that name, or as many as may be.
   */
  async rateLimitCreate(name: string, limit: number, windowMs: number, options: LimiterOptions = {}): Promise<void> {
    return this.#run(calls.rateLimitCreate(name, limit, windowMs, options));
  }

  /**
   * Checks a request for `key` against the limiter, and counts its `cost`, 1 by default, when it is allowed.
   *
   * @throws HotKVError `"ERR"` when there is no limiter of that name; `"OOM"` when `maxKeys` keys are live.
   */
  async rateLimitCheck(name: string, key: string, options?: { readonly cost?: number }): Promise<RateLimitCheckResult> {
    const engine = this.#engine ?? this.#ready();
    if (engine !== undefined) return engine.rateLimitCheck(name, key, options);
    return await this.#decide(calls.rateLimitCheck(name, key, calls.costOf(options)), (allowed) =>
      allowed ? [1, NaN, 0, NaN, NaN] : [0, NaN, NaN, NaN, NaN],
    );
  }

  /** What {@link Client.rateLimitCheck} of cost 1 would answer; nothing is counted. */
  async rateLimitPeek(name: string, key: string): Promise<RateLimitCheckResult> {
    return this.#run(calls.rateLimitPeek(name, key));
  }

  /** Forgets one key's state in the limiter. */
  async rateLimitReset(name: string, key: string): Promise<void> {
    return this.#run(calls.rateLimitReset(name, key));
  }

  /** The limiter's settings, its number of live keys, and its totals. */
  async rateLimitStats(name: string): Promise<RateLimitStats> {
    return this.#run(calls.rateLimitStats(name));
  }

  /** Deletes the limiter and all its state. */
  async rateLimitDrop(name: string): Promise<void> {
    return this.#run(calls.rateLimitDrop(name));
  }

  /** The names of all limiters, sorted by their bytes. */
  async rateLimitList(): Promise<string[]> {
    return this.#run(calls.rateLimitList());
  }

  /** The text stored in `key`, or `null`. */
  async get(key: string): Promise<string | null> {
    return this.#run(calls.get(key));
  }

  /** Stores `value`; whether it was stored, which only `nx` and `xx` can prevent. */
  async set(key: string, value: string | number, options: SetOptions = {}): Promise<boolean> {
    return this.#run(calls.set(key, value, options));
  }

  /** Deletes keys; how many existed. */
  async del(...keys: string[]): Promise<number> {
    return this.#run(calls.del(keys));
  }

  /** How many of the keys exist. */
  async exists(...keys: string[]): Promise<number> {
    return this.#run(calls.exists(keys));
  }

  /** What `key` holds: `"string"`, or `"none"`. */
  async type(key: string): Promise<string> {
    return this.#run(calls.type(key));
  }

  /** Seconds until `key` expires; -1 when it never does, -2 when there is no such key. */
  async ttl(key: string): Promise<number> {
    return this.#run(calls.ttl(key));
  }

  /** Milliseconds until `key` expires; -1 when it never does, -2 when there is no such key. */
  async pttl(key: string): Promise<number> {
    return this.#run(calls.pttl(key));
  }

  /** Lets `key` expire in `seconds`; whether it exists. */
  async expire(key: string, seconds: number): Promise<boolean> {
    return this.#run(calls.expire(key, seconds));
  }

  /** Lets `key` expire in `ms` milliseconds; whether it exists. */
  async pexpire(key: string, ms: number): Promise<boolean> {
    return this.#run(calls.pexpire(key, ms));
  }

  /** Keeps `key` from expiring; whether it would have. */
  async persist(key: string): Promise<boolean> {
    return this.#run(calls.persist(key));
  }

  /** The keys that match a pattern with `*`, `?` and `[…]`. */
  async keys(pattern = "*"): Promise<string[]> {
    return this.#run(calls.keys(pattern));
  }

  /** How many keys there are. */
  async dbSize(): Promise<number> {
    return this.#run(calls.dbSize());
  }

  /** Deletes every key. */
  async flushAll(): Promise<void> {
    return this.#run(calls.flushAll());
  }

  /** Any command; its reply as JavaScript values. */
  async command(name: string, ...args: readonly Argument[]): Promise<Reply> {
    return orThrow(await this.#ask([name, ...args]));
  }

  /** Several commands in one go; their replies in order. A command's error is in its place. */
  async pipeline(commands: readonly Command[]): Promise<readonly Reply[]> {
    const engine = this.#engine ?? this.#ready();
    if (engine !== undefined) return engine.pipeline(commands);
    if (this.#transport !== undefined) return this.#transport.send(commands);
    throw clientClosed();
  }

  /** Lets go of the engine or the connection. Every later call rejects with `"CLOSED"`; closing again does nothing. */
  async close(): Promise<void> {
    const transport = this.#transport;
    this.#engine?.close();
    this.#open = undefined;
    this.#engine = undefined;
    this.#transport = undefined;
    await transport?.close();
  }

  /** {@link Client.close}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Opens the backend when this is the first call; the engine, when it is one. */
  #ready(): Engine | undefined {
    const open = this.#open;
    if (open === undefined) return undefined;
    const backend = open();
    this.#open = undefined;
    if ("engine" in backend) this.#engine = backend.engine;
    else this.#transport = backend.transport;
    return this.#engine;
  }

  /** Runs a check; when the store does not answer, what the user chose stands in for its reply. */
  #decide<T>(call: calls.Call<T>, standIn: (allowed: boolean) => Reply): Promise<T> {
    const decision = this.#run(call);
    if (this.#onUnavailable === "throw") return decision;
    return decision.catch((error) => {
      if (!(error instanceof HotKVError) || error.code !== "STORE_UNAVAILABLE") throw error;
      return { ...call.read(standIn(this.#onUnavailable === "allow")), unavailable: true };
    });
  }

  async #run<T>(call: calls.Call<T>): Promise<T> {
    return call.read(orThrow(await this.#ask(call.command)));
  }

  /** The reply to one command; its error is in its place. */
  #ask(command: Command): Promise<Reply> {
    this.#ready();
    return this.#transport?.ask?.(command) ?? this.pipeline([command]).then(([reply = null]) => reply);
  }
}

/** A reply that is no error, which is thrown. */
function orThrow(reply: Reply): Reply {
  if (reply instanceof Error) throw reply;
  return reply;
}
