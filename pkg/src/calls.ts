import { ALGORITHMS, assertFields, assertInteger, assertName, assertOneOf, invalidArgument } from "./arguments.ts";
import { HotKVError } from "./errors.ts";
import type { Command, Reply } from "./reply.ts";
import { mapOf } from "./resp/decode.ts";
import { decimal } from "./resp/encode.ts";
import type {
  GcraLimitResult,
  LimiterAlgorithm,
  LimiterOptions,
  RateLimitCheckResult,
  RateLimitStats,
  SetOptions,
} from "./results.ts";

/*
 * Each typed method as a command and the reading of its reply: what `Engine`, `HotKV` and every transport share. Making a
 * call checks its arguments, so a wrong one is never sent.
 */

/** A command, and how its reply is read. */
export interface Call<T> {
  readonly command: Command;
  read(reply: Reply): T;
}

export function gcraLimit(key: string, period: number, burst: number, count: number): Call<GcraLimitResult> {
  assertName("key", key);
  assertInteger("period", period);
  assertInteger("burst", burst);
  assertInteger("count", count);
  return { command: ["GCRA.LIMIT", key, period, burst, count], read: readGcra };
}

export function gcraReset(keys: readonly string[]): Call<number> {
  return { command: ["GCRA.RESET", ...names(keys)], read: readInteger };
}

export function rateLimitCreate(name: string, limit: number, windowMs: number, options: LimiterOptions): Call<void> {
  assertName("name", name);
  assertInteger("limit", limit);
  assertInteger("windowMs", windowMs);
  return { command: ["RATELIMIT.CREATE", name, limit, windowMs, ...limiterOptions(options)], read: readNothing };
}

export function rateLimitCheck(name: string, key: string, cost: number): Call<RateLimitCheckResult> {
  assertName("name", name);
  assertName("key", key);
  assertInteger("cost", cost);
  return { command: ["RATELIMIT.CHECK", name, key, "COST", cost], read: readCheck };
}

/** The cost in `options`: 1 when it is left out. */
export function costOf(options: { readonly cost?: number } | undefined): number {
  if (options === undefined) return 1;
  assertFields(options, ["cost"]);
  return options.cost === undefined ? 1 : options.cost;
}

export function rateLimitPeek(name: string, key: string): Call<RateLimitCheckResult> {
  assertName("name", name);
  assertName("key", key);
  return { command: ["RATELIMIT.PEEK", name, key], read: readCheck };
}

export function rateLimitReset(name: string, key: string): Call<void> {
  assertName("name", name);
  assertName("key", key);
  return { command: ["RATELIMIT.RESET", name, key], read: readNothing };
}

export function rateLimitStats(name: string): Call<RateLimitStats> {
  assertName("name", name);
  return { command: ["RATELIMIT.STATS", name], read: readStats };
}

export function rateLimitDrop(name: string): Call<void> {
  assertName("name", name);
  return { command: ["RATELIMIT.DROP", name], read: readNothing };
}

export function rateLimitList(): Call<string[]> {
  return { command: ["RATELIMIT.LIST"], read: readTexts };
}

export function get(key: string): Call<string | null> {
  return keyed("GET", key, readTextOrNull);
}

export function set(key: string, value: string | number, options: SetOptions): Call<boolean> {
  assertName("key", key);
  if (typeof value !== "string" && !Number.isFinite(value)) {
    throw invalidArgument("value", value, "text or a finite number");
  }
  return { command: ["SET", key, value, ...setOptions(options)], read: (reply) => reply !== null };
}

export function del(keys: readonly string[]): Call<number> {
  return { command: ["DEL", ...names(keys)], read: readInteger };
}

export function exists(keys: readonly string[]): Call<number> {
  return { command: ["EXISTS", ...names(keys)], read: readInteger };
}

export function type(key: string): Call<string> {
  return keyed("TYPE", key, readText);
}

export function ttl(key: string): Call<number> {
  return keyed("TTL", key, readInteger);
}

export function pttl(key: string): Call<number> {
  return keyed("PTTL", key, readInteger);
}

export function expire(key: string, seconds: number): Call<boolean> {
  assertName("key", key);
  assertInteger("seconds", seconds);
  return { command: ["EXPIRE", key, seconds], read: readFlag };
}

export function pexpire(key: string, ms: number): Call<boolean> {
  assertName("key", key);
  assertInteger("ms", ms);
  return { command: ["PEXPIRE", key, ms], read: readFlag };
}

export function persist(key: string): Call<boolean> {
  return keyed("PERSIST", key, readFlag);
}

export function keys(pattern: string): Call<string[]> {
  assertName("pattern", pattern);
  return { command: ["KEYS", pattern], read: readTexts };
}

export function dbSize(): Call<number> {
  return { command: ["DBSIZE"], read: readInteger };
}

export function flushAll(): Call<void> {
  return { command: ["FLUSHALL"], read: readNothing };
}

function keyed<T>(command: string, key: string, read: (reply: Reply) => T): Call<T> {
  assertName("key", key);
  return { command: [command, key], read };
}

function names(keys: readonly string[]): readonly string[] {
  if (keys.length === 0) throw invalidArgument("keys", keys, "at least one key");
  for (const key of keys) assertName("key", key);
  return keys;
}

function limiterOptions(options: {
  readonly algo?: LimiterAlgorithm;
  readonly refill?: number | string;
  readonly drain?: number | string;
}): string[] {
  assertFields(options, ["algo", "refill", "drain"]);
  const { algo } = options;
  const given: string[] = [];
  if (algo !== undefined) {
    assertOneOf("algo", algo, ALGORITHMS);
    given.push("ALGO", algo);
  }
  for (const [field, bucket] of [
    ["refill", "token_bucket"],
    ["drain", "leaky_bucket"],
  ] as const) {
    const rate = options[field];
    if (rate === undefined) continue;
    if (algo !== bucket) throw invalidArgument(field, rate, `left out unless algo is ${bucket}`);
    const text = typeof rate === "number" ? decimal(rate) : rate;
    // No 16 digits, and one that is not 0.
    if (typeof text !== "string" || !/^(?!(\D*\d){16})(?=.*[1-9])\d+(\.\d{1,6})?$/.test(text)) {
      throw invalidArgument(field, rate, "a positive decimal of up to 15 digits, 6 of them after the point");
    }
    given.push(field, text);
  }
  return given;
}

function setOptions(options: SetOptions): (string | number)[] {
  assertFields(options, ["ex", "px", "nx", "xx", "keepTtl"]);
  const given: (string | number)[] = [];
  for (const field of ["ex", "px"] as const) {
    const time = options[field];
    if (time === undefined) continue;
    assertInteger(field, time);
    given.push(field, time);
  }
  for (const field of ["nx", "xx", "keepTtl"] as const) if (options[field]) given.push(field);
  return given;
}

function readGcra(reply: Reply): GcraLimitResult {
  const [denied, limit, remaining, retryAfterMs, resetAfterMs] = readIntegers(reply);
  return { denied: denied === 1, limit, remaining, retryAfterMs, resetAfterMs } as GcraLimitResult;
}

function readCheck(reply: Reply): RateLimitCheckResult {
  const [allowed, remaining, retryAfterMs, limit, current] = readIntegers(reply);
  return { allowed: allowed === 1, remaining, retryAfterMs, limit, current } as RateLimitCheckResult;
}

function readStats(reply: Reply): RateLimitStats {
  // RESP2 has a flat array of names and values in place of a map.
  const fields = reply instanceof Map ? reply : mapOf(readArray(reply));
  const text = (field: string) => readText(fields.get(field));
  const integer = (field: string) => readInteger(fields.get(field));
  return {
    name: text("name"),
    algo: text("algo") as LimiterAlgorithm,
    limit: integer("limit"),
    windowMs: integer("window_ms"),
    uniqueKeys: integer("unique_keys"),
    totalAllowed: integer("total_allowed"),
    totalDenied: integer("total_denied"),
    ...(fields.has("refill") && { refill: text("refill") }),
    ...(fields.has("drain") && { drain: text("drain") }),
  };
}

function readNothing(): void {}

function readInteger(reply?: Reply): number {
  if (typeof reply === "number") return reply;
  if (typeof reply === "bigint") return Number(reply);
  throw unexpected(reply, "an integer");
}

function readFlag(reply: Reply): boolean {
  return readInteger(reply) === 1;
}

function readText(reply?: Reply): string {
  if (typeof reply === "string") return reply;
  throw unexpected(reply, "text");
}

function readTextOrNull(reply: Reply): string | null {
  return reply === null ? null : readText(reply);
}

function readTexts(reply: Reply): string[] {
  return readArray(reply).map(readText);
}

function readIntegers(reply: Reply): number[] {
  const integers = readArray(reply).map(readInteger);
  if (integers.length !== 5) throw unexpected(reply, "five integers");
  return integers;
}

function readArray(reply: Reply): readonly Reply[] {
  if (Array.isArray(reply)) return reply;
  throw unexpected(reply, "an array");
}

function unexpected(reply: Reply | undefined, expected: string): HotKVError {
  return new HotKVError("STORE_UNAVAILABLE", `the store answered ${String(reply)} where ${expected} was due`);
}
