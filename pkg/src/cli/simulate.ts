import { readFileSync } from "node:fs";
import { invalidArgument } from "../arguments.ts";
import { HotKVError } from "../errors.ts";
import { simulate } from "../simulate.ts";
import { type CanonicalRule, checkedPolicy } from "./policy.ts";
import { bar, duration, styled } from "./terminal.ts";

/** The options of `tidegate simulate`. */
export interface SimulateOptions {
  readonly arrivals: string;
  readonly for: string;
  readonly seed: number;
  readonly json: boolean;
}

const ROWS = 20;
const WIDTH = 50;

/** Sends arrivals through a policy and prints what was admitted: totals, the fullest window of each rule, and a chart. */
export function simulateCommand(json: string, options: SimulateOptions): void {
  const { rate } = checkedPolicy(json);
  const times = arrivals(options);
  const { allowed, retryAfterMs } = simulate(rate, { times });
  if (options.json) {
    for (const [at, time] of times.entries()) {
      console.log(JSON.stringify({ time, allowed: allowed[at] === 1, retryAfterMs: retryAfterMs[at] }));
    }
    return;
  }
  const admitted = times.filter((_, at) => allowed[at] === 1);
  const refused = times.length - admitted.length;
  console.log(
    `${times.length} arrivals: ${styled("green", `${admitted.length} admitted`)}, ${styled("red", `${refused} refused`)}\n`,
  );
  console.log("rule                              most in any window   bound");
  for (const rule of rate) {
    const name = rule.name ?? `${rule.algorithm}, ${rule.limit} per ${duration(rule.interval)}`;
    const fullest = String(most(admitted, rule.interval));
    console.log(`${name.padEnd(34)}${fullest.padStart(18)}${String(bound(rule)).padStart(8)}`);
  }
  console.log(`\n${chart(times, allowed)}`);
}

/** The most admissions in any half-open stretch of `window` ms. */
function most(times: Float64Array, window: number): number {
  let start = 0;
  let fullest = 0;
  for (const [at, time] of times.entries()) {
    while ((times[start] ?? time) <= time - window) start++;
    fullest = Math.max(fullest, at - start + 1);
  }
  return fullest;
}

/** What the rule promises of any stretch of its interval. */
function bound({ algorithm, limit, burst = 1 }: CanonicalRule): number {
  return { gcra: limit + burst - 1, "fixed-window": 2 * limit, "sliding-window": limit }[algorithm];
}

/** A row for each stretch of time: full cells were admitted, light ones refused. */
function chart(times: Float64Array, allowed: Uint8Array): string {
  const first = times[0] ?? 0;
  const step = Math.max(1, Math.ceil(((times[times.length - 1] ?? first) - first + 1) / ROWS));
  const rows = Array.from({ length: ROWS }, () => ({ admitted: 0, refused: 0 }));
  for (const [at, time] of times.entries()) {
    const row = rows[Math.floor((time - first) / step)];
    if (row) row[allowed[at] === 1 ? "admitted" : "refused"]++;
  }
  const widest = Math.max(1, ...rows.map(({ admitted, refused }) => admitted + refused));
  const lines = rows.map(({ admitted, refused }, at) => {
    const total = admitted + refused;
    const cells = Math.ceil((total / widest) * WIDTH);
    return `+${duration(at * step).padEnd(10)} ${bar(total ? admitted / total : 0, cells).padEnd(WIDTH)} ${admitted}/${total}`;
  });
  return lines.join("\n");
}

/** Arrival times in ms, in order. */
function arrivals({ arrivals, for: length, seed }: SimulateOptions): Float64Array {
  const [, rate] = /^poisson:(.*)$/.exec(arrivals) ?? [];
  if (rate !== undefined) {
    if (!/^\d+(\.\d+)?$/.test(rate) || Number(rate) === 0) {
      throw invalidArgument("arrivals", arrivals, "a file, or poisson:RATE with a rate a second that is more than 0");
    }
    return poissonTimes(Number(rate), intervalMs(length), seed);
  }
  const times = readFileSync(arrivals, "utf8").split(/\r?\n/).filter(Boolean).map(time);
  return Float64Array.from(times).sort();
}

/** One line of a file: an ISO time, or an epoch in seconds or milliseconds. */
function time(line: string, index: number): number {
  const text = line.trim();
  const number = Number(text);
  // Seconds stay below 10^11 until the year 5138.
  const ms = Number.isFinite(number) ? Math.floor(number < 1e11 ? number * 1000 : number) : Date.parse(text);
  if (Number.isSafeInteger(ms) && ms >= 0) return ms;
  throw new HotKVError(
    "INVALID_ARGUMENT",
    `line ${index + 1} must be an ISO time or an epoch, not ${JSON.stringify(text)}`,
  );
}

/** An interval as policies spell it. */
function intervalMs(text: string): number {
  const policy = JSON.stringify({ limit: 1, interval: /^\d+$/.test(text) ? Number(text) : text });
  return checkedPolicy(policy).rate[0]?.interval ?? 0;
}

/** Independent arrivals, `rate` a second, for `length` ms; the same for the same seed. */
function poissonTimes(rate: number, length: number, seed: number): Float64Array {
  const times: number[] = [];
  let state = seed >>> 0;
  const random = () => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  for (let now = 0; ; ) {
    now += (-Math.log(1 - random()) / rate) * 1000;
    if (now >= length) return Float64Array.from(times);
    times.push(Math.floor(now));
  }
}
