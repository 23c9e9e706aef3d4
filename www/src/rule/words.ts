import { type Algorithm, isBucket, type Rule } from "./rule.ts";

/** What people call an algorithm. */
export const NAMES: Readonly<Record<Algorithm, string>> = {
  gcra: "GCRA",
  "fixed-window": "Fixed window",
  "sliding-window": "Sliding window",
  "token-bucket": "Token bucket",
  "leaky-bucket": "Leaky bucket",
};

const UNITS: readonly (readonly [string, number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
];

const whole = new Intl.NumberFormat("en-US");

/** A number with its thousands apart. */
export function number(value: number): string {
  return whole.format(value);
}

/** How many of what that is: `1 request`, `2 requests`. */
export function counted(value: number, one: string): string {
  return `${number(value)} ${one}${value === 1 ? "" : "s"}`;
}

/** Milliseconds exactly, as people say them: `640 ms`, `1.5 s`, `14 min 24 s`, `24 h`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Number(ms.toFixed(3))} ms`;
  if (ms === 86_400_000) return "24 h";
  const parts: string[] = [];
  let left = ms;
  for (const [name, size] of UNITS) {
    const count = Math.floor(left / size);
    if (count > 0) parts.push(`${number(count)} ${name}`);
    left -= count * size;
  }
  if (left > 0) parts.push(`${Number((left / 1000).toFixed(3))} s`);
  return parts.join(" ");
}

/** What a rule says, without its algorithm's name: `10 per 1 s, burst 5`. */
export function terms({ algorithm, limit, interval, burst, rate }: Rule): string {
  if (isBucket(algorithm) && rate !== "") {
    return `${number(limit)} units, ${rate}/s ${algorithm === "token-bucket" ? "refill" : "drain"}`;
  }
  const per = `${number(limit)} per ${duration(interval)}`;
  return algorithm === "gcra" ? `${per}, burst ${number(burst)}` : per;
}

/** What a rule is called when only one line is free. */
export function title(rule: Rule): string {
  return `${NAMES[rule.algorithm]}, ${terms(rule)}`;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** The last moment that dates reach, in milliseconds since 1970. */
export const LAST_MOMENT = 8_640_000_000_000_000;

/** A moment in UTC to the millisecond. */
export function moment(ms: number): string {
  if (ms > LAST_MOMENT) return "after all dates";
  const at = new Date(ms);
  const [, time = ""] = at.toISOString().split("T");
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]} ${at.getUTCFullYear()}, ${time.slice(0, -1)}`;
}

/** A moment on an axis whose ticks are `apart` milliseconds apart: only what changes from one to the next. */
export function tick(ms: number, apart: number): string {
  if (ms > LAST_MOMENT) return "";
  const at = new Date(ms);
  const [, time = ""] = at.toISOString().split("T");
  if (at.getUTCMilliseconds() !== 0) return time.slice(5, 12);
  if (at.getUTCSeconds() !== 0 || apart < 1000) return time.slice(0, 8);
  if (at.getUTCHours() !== 0 || at.getUTCMinutes() !== 0) return time.slice(0, 5);
  const day = `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}`;
  return at.getUTCDate() === 1 && at.getUTCMonth() === 0 ? String(at.getUTCFullYear()) : day;
}
