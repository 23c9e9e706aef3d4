import { gcraLimit, rateLimitCheck } from "../wasm/tidegate.js";
import { assertFields, assertInteger, invalidArgument } from "./arguments.ts";
import * as calls from "./calls.ts";
import { HotKVError } from "./errors.ts";
import * as wasm from "./module.ts";
import type { Argument, Command, Reply } from "./reply.ts";
import { decodeReplies } from "./resp/decode.ts";
import { encodeCommands } from "./resp/encode.ts";
import type {
  GcraLimitManyResult,
  GcraLimitResult,
  LimiterOptions,
  RateLimitCheckResult,
  RateLimitStats,
  SetOptions,
} from "./results.ts";
import { Session } from "./session.ts";

/** How an {@link Engine} is made. */
export interface EngineOptions {
  /** The most keys it holds; a new one beyond that is refused with code `"OOM"`, live ones keep their limits. No limit by default. */
  readonly maxKeys?: number;
  /** The most named limiters it holds; 10,000 by default. */
  readonly maxLimiters?: number;
  /** The time in whole milliseconds since 1970; `Date.now` by default. For tests and simulations. */
  readonly clock?: () => number;
}

/** What {@link Engine.stats} counts commands by. */
const FAMILIES = ["gcra.limit", "ratelimit.check", "cl.throttle", "valve.admit", "other"] as const;
const OUTCOMES = ["allowed", "denied", "error"] as const;

/**
 * The engine itself, in this process: every method answers at once. Its state is gone when the process ends.
 *
 * ```ts
 * import { Engine } from "tidegate";
 *
 * const engine = new Engine();
 * const result = engine.gcraLimit("api:user:42", 60_000, 10, 11);
 * console.log(result.denied, result.retryAfterMs); // true -1
 * ```
 *
 * Every method throws a {@link HotKVError}, and changes nothing, when an argument is wrong or the command fails.
 */
export class Engine implements Disposable {
  #core: wasm.Core | undefined;
  /** The session of {@link Engine.command}, and that of {@link Engine.execute}. */
  #commands: Session | undefined;
  #stream: Session | undefined;
  readonly #clock: (() => number) | undefined;

  constructor(options: EngineOptions = {}) {
    assertFields(options, OPTIONS);
    assertEngineOptions(options);
    const { maxKeys, maxLimiters, clock } = options;
    this.#clock = clock;
    this.#core = wasm.makeCore(maxKeys ?? Number.POSITIVE_INFINITY, maxLimiters ?? 10_000);
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
   * live. Nothing is spent then.
   */
  gcraLimit(key: string, period: number, burst: number, count = 1): GcraLimitResult {
    if (typeof period !== "number" || (period | 0) !== period || period <= 0) assertInteger("period", period);
    if (typeof burst !== "number" || (burst | 0) !== burst || burst <= 0) assertInteger("burst", burst);
    if (typeof count !== "number" || (count | 0) !== count || count <= 0) assertInteger("count", count);
    // The clock first: it is the caller's, and may close this engine.
    const now = this.#clock === undefined ? Date.now() : this.#now(this.#clock);
    const core = this.#core;
    if (core?.instance !== wasm.instance) throw unusable(core);
    const bytes = wasm.writeKey("key", key);
    let status: number;
    try {
      status = gcraLimit(core.at, now, bytes, period, burst, count);
    } catch (error) {
      throw wasm.callFailed(error);
    }
    if (status > 1) throw wasm.lastError(core);
    if (wasm.numbers.length === 0) wasm.refresh();
    const numbers = wasm.numbers;
    return {
      denied: status === 1,
      limit: burst,
      remaining: numbers[0],
      retryAfterMs: numbers[1],
      resetAfterMs: numbers[2],
    } as GcraLimitResult;
  }

  /** {@link Engine.gcraLimit} on many keys in one go, in their order, at one time. */
  gcraLimitMany(keys: readonly string[], period: number, burst: number, count = 1): GcraLimitManyResult {
    if (!Array.isArray(keys)) throw invalidArgument("keys", keys, "an array of text");
    assertInteger("period", period);
    assertInteger("burst", burst);
    assertInteger("count", count);
    const now = this.#time();
    return wasm.decideMany(this.#open(), now, keys, period, burst, count);
  }

  /** Forgets the keys' states; how many existed. */
  gcraReset(...keys: string[]): number {
    return this.#run(calls.gcraReset(keys));
  }

  /**
   * Makes a named limiter of `limit` units per `windowMs` milliseconds, a sliding window unless `algo` says otherwise.
   *
   * @throws HotKVError `"INVALID_ARGUMENT"`, or `"ERR"` when there is a limiter of that name, or `maxLimiters` of them.
   */
  rateLimitCreate(name: string, limit: number, windowMs: number, options: LimiterOptions = {}): void {
    this.#run(calls.rateLimitCreate(name, limit, windowMs, options));
  }

  /**
   * Checks a request for `key` against the limiter, and counts its `cost`, 1 by default, when it is allowed.
   *
   * @throws HotKVError `"ERR"` when there is no limiter of that name; `"OOM"` when `maxKeys` keys are live.
   */
  rateLimitCheck(name: string, key: string, options?: { readonly cost?: number }): RateLimitCheckResult {
    const cost = options === undefined ? 1 : calls.costOf(options);
    if (typeof cost !== "number" || (cost | 0) !== cost || cost <= 0) assertInteger("cost", cost);
    // The clock first: it is the caller's, and may close this engine.
    const now = this.#clock === undefined ? Date.now() : this.#now(this.#clock);
    const core = this.#core;
    if (core?.instance !== wasm.instance) throw unusable(core);
    const nameBytes = wasm.writeName("name", name);
    const keyBytes = wasm.writeKey("key", key);
    let status: number;
    try {
      status = rateLimitCheck(core.at, now, nameBytes, keyBytes, cost);
    } catch (error) {
      throw wasm.callFailed(error);
    }
    if (status > 1) throw wasm.lastError(core);
    if (wasm.numbers.length === 0) wasm.refresh();
    const numbers = wasm.numbers;
    return {
      allowed: status === 0,
      remaining: numbers[0],
      retryAfterMs: numbers[1],
      limit: numbers[2],
      current: numbers[3],
    } as RateLimitCheckResult;
  }

  /** What {@link Engine.rateLimitCheck} of cost 1 would answer; nothing is counted. */
  rateLimitPeek(name: string, key: string): RateLimitCheckResult {
    return this.#run(calls.rateLimitPeek(name, key));
  }

  /** Forgets one key's state in the limiter. */
  rateLimitReset(name: string, key: string): void {
    this.#run(calls.rateLimitReset(name, key));
  }

  /** The limiter's settings, its number of live keys, and its totals. */
  rateLimitStats(name: string): RateLimitStats {
    return this.#run(calls.rateLimitStats(name));
  }

  /** Deletes the limiter and all its state. */
  rateLimitDrop(name: string): void {
    this.#run(calls.rateLimitDrop(name));
  }

  /** The names of all limiters, sorted by their bytes. */
  rateLimitList(): string[] {
    return this.#run(calls.rateLimitList());
  }

  /** The text stored in `key`, or `null`. */
  get(key: string): string | null {
    return this.#run(calls.get(key));
  }

  /** Stores `value`; whether it was stored, which only `nx` and `xx` can prevent. */
  set(key: string, value: string | number, options: SetOptions = {}): boolean {
    return this.#run(calls.set(key, value, options));
  }

  /** Deletes keys; how many existed. */
  del(...keys: string[]): number {
    return this.#run(calls.del(keys));
  }

  /** How many of the keys exist. */
  exists(...keys: string[]): number {
    return this.#run(calls.exists(keys));
  }

  /** What `key` holds: `"string"`, or `"none"`. */
  type(key: string): string {
    return this.#run(calls.type(key));
  }

  /** Seconds until `key` expires; -1 when it never does, -2 when there is no such key. */
  ttl(key: string): number {
    return this.#run(calls.ttl(key));
  }

  /** Milliseconds until `key` expires; -1 when it never does, -2 when there is no such key. */
  pttl(key: string): number {
    return this.#run(calls.pttl(key));
  }

  /** Lets `key` expire in `seconds`; whether it exists. */
  expire(key: string, seconds: number): boolean {
    return this.#run(calls.expire(key, seconds));
  }

  /** Lets `key` expire in `ms` milliseconds; whether it exists. */
  pexpire(key: string, ms: number): boolean {
    return this.#run(calls.pexpire(key, ms));
  }

  /** Keeps `key` from expiring; whether it would have. */
  persist(key: string): boolean {
    return this.#run(calls.persist(key));
  }

  /** The keys that match a pattern with `*`, `?` and `[…]`. */
  keys(pattern = "*"): string[] {
    return this.#run(calls.keys(pattern));
  }

  /** How many keys there are. */
  dbSize(): number {
    return this.#run(calls.dbSize());
  }

  /** Deletes every key. */
  flushAll(): void {
    this.#run(calls.flushAll());
  }

  /** Any command; its reply as JavaScript values. */
  command(name: string, ...args: readonly Argument[]): Reply {
    const [reply] = this.pipeline([[name, ...args]]);
    if (reply instanceof Error) throw reply;
    return reply ?? null;
  }

  /** Several commands in one go; their replies in order. A command's error is in its place. */
  pipeline(commands: readonly Command[]): Reply[] {
    const bytes = encodeCommands(commands);
    this.#commands ??= this.openSession();
    const replies = decodeReplies(this.#commands.feedAll(bytes));
    if (this.#commands.flow === "close") this.#commands = drop(this.#commands);
    return replies;
  }

  /** The protocol itself: takes RESP bytes, whole commands or cut anywhere, and returns the reply bytes there are. */
  execute(bytes: Uint8Array): Uint8Array {
    this.#stream ??= this.openSession();
    const replies = this.#stream.feedAll(bytes);
    if (this.#stream.flow === "close") this.#stream = drop(this.#stream);
    return replies;
  }

  /** Opens one more client's side of the protocol, for a server; with a password, the client must send that first. */
  openSession(options: { readonly password?: string } = {}): Session {
    this.#open();
    const { password } = options;
    if (password !== undefined && typeof password !== "string") throw invalidArgument("password", password, "text");
    const connection = wasm.makeConnection(password);
    return new Session(connection, (bytes) => {
      const now = this.#time();
      return wasm.feed(this.#open(), connection, now, bytes);
    });
  }

  /** How many commands there were and how they ended, and what the engine holds: for a server's metrics. */
  stats(): EngineStats {
    const [records = 0, ...counts] = wasm.stats(this.#open());
    return { commands: commandCounts(counts), records, memoryBytes: wasm.memoryBytes() };
  }

  /** Frees the engine's memory. Every later call throws `"CLOSED"`; closing again does nothing. */
  close(): void {
    this.#commands?.close();
    this.#stream?.close();
    const core = this.#core;
    this.#core = undefined;
    if (core !== undefined) wasm.free(core);
  }

  /** {@link Engine.close}, for `using`. */
  [Symbol.dispose](): void {
    this.close();
  }

  #run<T>(call: calls.Call<T>): T {
    return call.read(this.command(...call.command));
  }

  #open(): wasm.Core {
    const core = this.#core;
    if (core?.instance !== wasm.instance) throw unusable(core);
    return core;
  }

  #time(): number {
    return this.#clock === undefined ? Date.now() : this.#now(this.#clock);
  }

  #now(clock: () => number): number {
    const now = clock();
    if (!Number.isSafeInteger(now) || now < 0) {
      throw invalidArgument("clock", now, "a function that returns whole milliseconds since 1970");
    }
    return now;
  }
}

/** Counts by command and outcome, out of an engine's row of numbers. */
export function commandCounts(counts: ArrayLike<number>): EngineStats["commands"] {
  return FAMILIES.flatMap((command, family) =>
    OUTCOMES.map((outcome, index) => ({ command, outcome, count: counts[family * OUTCOMES.length + index] ?? 0 })),
  );
}

/** What {@link Engine.stats} says. */
export interface EngineStats {
  /** Commands run through the protocol, by kind and by outcome: `"allowed"`, `"denied"` or `"error"`. */
  readonly commands: readonly {
    /** `"gcra.limit"`, `"ratelimit.check"`, `"cl.throttle"`, `"valve.admit"` or `"other"`. */
    readonly command: string;
    /** How they ended. */
    readonly outcome: string;
    /** How many. */
    readonly count: number;
  }[];
  /** Records held, expired ones that still take room included. */
  readonly records: number;
  /** Memory of the WebAssembly module in bytes: all engines of this process together. */
  readonly memoryBytes: number;
}

const OPTIONS = ["maxKeys", "maxLimiters", "clock"];

/** Throws unless each of an engine's options can make one. */
export function assertEngineOptions({ maxKeys, maxLimiters, clock }: EngineOptions): void {
  if (maxKeys !== undefined) assertInteger("maxKeys", maxKeys);
  if (maxLimiters !== undefined) assertInteger("maxLimiters", maxLimiters);
  if (clock !== undefined && typeof clock !== "function") throw invalidArgument("clock", clock, "a function");
}

/** Closes a session that is over; the next call opens a new one. */
function drop(session: Session): undefined {
  session.close();
}

/** Why an engine decides no more. */
function unusable(core: wasm.Core | undefined): HotKVError {
  return core === undefined ? new HotKVError("CLOSED", "this engine is closed") : wasm.gone();
}
