import { HotKVError } from "./errors.ts";
import type { LimiterAlgorithm } from "./results.ts";

/** The largest integer that any argument may be: 2^53 - 1. */
export const MAX_INTEGER = Number.MAX_SAFE_INTEGER;
/** Keys, names and identities are at most this many UTF-8 bytes. */
export const MAX_NAME_BYTES = 4096;

/** How a named limiter may count. */
export const ALGORITHMS: readonly LimiterAlgorithm[] = [
  "sliding_window",
  "token_bucket",
  "leaky_bucket",
  "gcra",
  "fixed_window",
];

/** An argument error that names the argument, shows its value and says what is allowed. */
export function invalidArgument(argument: string, value: unknown, allowed: string): HotKVError {
  return new HotKVError("INVALID_ARGUMENT", `${argument} must be ${allowed}, not ${shown(value)}`, {
    argument,
    value,
    allowed,
  });
}

/** The error of a wrong URL, which keeps the password in it to itself. */
export function invalidUrl(url: string, allowed: string): HotKVError {
  return invalidArgument("url", url.replace(/\/\/[^/]*@/, "//…@"), allowed);
}

/** Makes the error of a wrong argument; a client's is another than a valve's. */
type Complaint = (argument: string, value: unknown, allowed: string) => Error;

/** Throws unless `value` is an integer from `least` to `most`: from 1 to 2^53 - 1 when they are left out. */
export function assertInteger(
  argument: string,
  value: unknown,
  complaint: Complaint = invalidArgument,
  least = 1,
  most = MAX_INTEGER,
): asserts value is number {
  if (!Number.isSafeInteger(value) || (value as number) < least || (value as number) > most) {
    throw complaint(argument, value, `an integer from ${least} to ${most}`);
  }
}

/** Whether `value` is an integer from 1 to 2^53 - 1. */
export function isPositive(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/**
 * Throws unless `value` is an object with no other fields than these: one that is misspelled, or another library's, would be
 * ignored. `at` is what holds the fields, when that is not the options themselves.
 */
export function assertFields(
  value: unknown,
  fields: readonly string[],
  at = "",
  complain: Complaint = invalidArgument,
): asserts value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw complain(at || "options", value, "an object");
  }
  for (const field in value) {
    if (!fields.includes(field)) {
      const given = value[field as never];
      throw complain(at ? `${at}.${field}` : field, given, `left out: fields are ${fields.join(", ")}`);
    }
  }
}

/** A timer that is longer fires at once in every runtime, since it counts in 32 bits. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Throws unless a store elsewhere can be asked like this: what is wrong is found when a client is made, not by its first call. */
export function assertRemote({
  token = "",
  password = "",
  timeoutMs = 1,
}: {
  readonly token?: unknown;
  readonly password?: unknown;
  readonly timeoutMs?: unknown;
} = {}): void {
  assertInteger("timeoutMs", timeoutMs, invalidArgument, 1, LONGEST_TIMER_MS);
  assertName("token", token);
  assertName("password", password);
}

/** Throws unless each of these options that is given is a function. */
export function assertFunctions(options: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && typeof value !== "function") throw invalidArgument(name, value, "a function");
  }
}

/** Throws unless `value` is one of `allowed`. */
export function assertOneOf(
  argument: string,
  value: unknown,
  allowed: readonly unknown[],
  complaint: Complaint = invalidArgument,
): void {
  if (!allowed.includes(value)) throw complaint(argument, value, `one of ${allowed.join(", ")}`);
}

/** Throws unless `value` is text of at most 4,096 UTF-8 bytes without lone surrogates. */
export function assertName(
  argument: string,
  value: unknown,
  complaint: Complaint = invalidArgument,
): asserts value is string {
  // A UTF-16 unit is at most three bytes of UTF-8.
  if (
    typeof value !== "string" ||
    !value.isWellFormed() ||
    (value.length * 3 > MAX_NAME_BYTES && utf8Length(value) > MAX_NAME_BYTES)
  ) {
    throw complaint(argument, value, NAME);
  }
}

/** What a key, a name or an identity is: UTF-8 has no way to spell half a character, so it would merge with other text. */
export const NAME = `text of at most ${MAX_NAME_BYTES} bytes in UTF-8, without lone surrogates`;

/** How many bytes well-formed `text` is in UTF-8. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    // Each half of a pair counts two of the pair's four bytes.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
  }
  return bytes;
}

/** `value` as an error shows it: short, and unlike any other kind of value. */
export function shown(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  }
  if (typeof value === "bigint") return `${value}n`;
  if (Array.isArray(value)) return "an array";
  if (typeof value === "function") return "a function";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
