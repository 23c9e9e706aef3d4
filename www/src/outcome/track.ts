import { type Arrivals, lowerBound, upperBound } from "../arrivals/arrivals.ts";
import { perInterval, promisedBound } from "../rule/bound.ts";
import { capacity, isSchedule, type Rule, recovery } from "../rule/rule.ts";
import { duration, NAMES, number, terms } from "../rule/words.ts";

/** What became of a request. */
export const REFUSED = 0;
export const ADMITTED = 1;
/** This rule would have admitted it, but another one of its policy refused: nothing was spent. */
export const SPARED = 2;

/** How many requests share an entry of the coarse maxima. */
const BLOCK = 256;

/** What one rule did with every request that reached it, or what a whole policy did: all that one row of the page shows. */
export interface Track {
  /** The row's rule; none for the outcome of a policy. */
  readonly rule?: Rule;
  readonly name: string;
  readonly terms: string;
  readonly arrivals: Arrivals;
  /** {@link REFUSED}, {@link ADMITTED} or {@link SPARED}. */
  readonly fate: Uint8Array;
  /** Milliseconds until the same request would pass: 0 when it did, -1 when it never will. */
  readonly retryAfterMs: Float64Array;
  /** Milliseconds until the rule is idle again, after each request. */
  readonly resetAfterMs: Float64Array;
  /** Units in use after each request, fractions included. */
  readonly levels?: Float64Array;
  /** Units and requests admitted, and requests spared, before request `i`; one entry more than requests. */
  readonly unitsBefore: Float64Array | Uint32Array;
  readonly admittedBefore: Uint32Array;
  readonly sparedBefore: Uint32Array;
  /** The stretch of time whose admissions are counted, in milliseconds. */
  readonly window: number;
  /** Units admitted in the last {@link window}, right after each request. */
  readonly inWindow: Float64Array;
  readonly coarse: Float64Array;
  /** The largest of {@link inWindow}, and the most that the rule promises. */
  readonly most: number;
  readonly bound: number;
}

/** The parts of a track that the engine decided. */
export interface Decided {
  readonly rule?: Rule;
  readonly name: string;
  readonly terms: string;
  readonly window: number;
  readonly bound: number;
  readonly arrivals: Arrivals;
  readonly fate: Uint8Array;
  readonly retryAfterMs: Float64Array;
  readonly resetAfterMs: Float64Array;
  readonly levels?: Float64Array;
}

/** What a track of a single rule is called, counts and promises. */
export function about(rule: Rule): Pick<Track, "name" | "terms" | "window" | "bound"> & { readonly rule: Rule } {
  return { rule, name: NAMES[rule.algorithm], terms: terms(rule), window: rule.interval, bound: promisedBound(rule) };
}

/** Counts what was decided. */
export function track(decided: Decided): Track {
  const { arrivals, fate, window } = decided;
  const { times, costs } = arrivals;
  const total = times.length;
  const admittedBefore = new Uint32Array(total + 1);
  const sparedBefore = new Uint32Array(total + 1);
  let admitted = 0;
  let spared = 0;
  for (let index = 0; index < total; index++) {
    const is = fate[index];
    if (is === ADMITTED) admitted++;
    else if (is === SPARED) spared++;
    admittedBefore[index + 1] = admitted;
    sparedBefore[index + 1] = spared;
  }
  const unitsBefore = costs === undefined ? admittedBefore : unitsOfAdmitted(fate, costs);
  const inWindow = new Float64Array(total);
  const coarse = new Float64Array(Math.ceil(total / BLOCK));
  let most = 0;
  let oldest = 0;
  for (let index = 0; index < total; index++) {
    // An admission at t has left the window at t + window.
    const left = (times[index] as number) - window;
    while ((times[oldest] as number) <= left) oldest++;
    const count = (unitsBefore[index + 1] as number) - (unitsBefore[oldest] as number);
    inWindow[index] = count;
    if (count > most) most = count;
    const block = Math.floor(index / BLOCK);
    if (count > (coarse[block] as number)) coarse[block] = count;
  }
  return { ...decided, unitsBefore, admittedBefore, sparedBefore, inWindow, coarse, most };
}

function unitsOfAdmitted(fate: Uint8Array, costs: Float64Array): Float64Array {
  const before = new Float64Array(costs.length + 1);
  costs.forEach((cost, index) => {
    before[index + 1] = (before[index] as number) + (fate[index] === ADMITTED ? cost : 0);
  });
  return before;
}

/** Requests refused before request `index`. */
export function refusedBefore({ admittedBefore, sparedBefore }: Track, index: number): number {
  return index - (admittedBefore[index] as number) - (sparedBefore[index] as number);
}

/** Units admitted in the last window at `time`. */
export function countAt({ arrivals, unitsBefore, window }: Track, time: number): number {
  const end = unitsBefore[upperBound(arrivals.times, time)] as number;
  return end - (unitsBefore[upperBound(arrivals.times, time - window)] as number);
}

/** The most units admitted in any window that ends with one of the requests in `[first, end)`. */
export function mostBetween({ inWindow, coarse }: Track, first: number, end: number): number {
  let most = 0;
  for (let index = first; index < end; ) {
    if (index % BLOCK === 0 && index + BLOCK <= end) {
      most = Math.max(most, coarse[index / BLOCK] as number);
      index += BLOCK;
    } else {
      most = Math.max(most, inWindow[index++] as number);
    }
  }
  return most;
}

/** Units in use at `time`: what the engine said after the last request, less what has recovered since. */
export function levelAt(track: Track, time: number): number {
  return levelAfter(track, upperBound(track.arrivals.times, time) - 1, time);
}

/** {@link levelAt} when request `index` is known to be the last one. */
export function levelAfter(track: Track, index: number, time: number): number {
  const { rule, levels, arrivals } = track;
  const then = arrivals.times[index];
  const level = levels?.[index];
  if (rule === undefined || level === undefined || then === undefined) return 0;
  if (isSchedule(rule)) return Math.max(0, level - (time - then) * recovery(rule));
  if (rule.algorithm === "sliding-window") return countAt(track, time);
  return Math.floor(then / rule.interval) === Math.floor(time / rule.interval) ? level : 0;
}

/** The units at which a rule is full. */
export function fullAt(rule: Rule): number {
  return isSchedule(rule) ? capacity(rule) : rule.limit;
}

/** How many requests of each fate came up to and at `time`. */
export function countsAt(track: Track, time: number): { admitted: number; refused: number; spared: number } {
  const end = upperBound(track.arrivals.times, time);
  return {
    admitted: track.admittedBefore[end] as number,
    refused: refusedBefore(track, end),
    spared: track.sparedBefore[end] as number,
  };
}

/** How many times over what its rule means to admit a row went in any window; 0 for the outcome of a policy. */
export function overBy({ rule, most }: Track): number {
  return rule === undefined ? 0 : most / perInterval(rule);
}

/** Whether more was admitted in any window than the rule means to. */
export function isOver(track: Track): boolean {
  return overBy(track) > 1;
}

/** The request nearest to `time`; `undefined` when there is none. */
export function nearest({ arrivals: { times } }: Track, time: number): number | undefined {
  if (times.length === 0) return undefined;
  const after = lowerBound(times, time);
  if (after === 0) return 0;
  if (after === times.length) return after - 1;
  return (times[after] as number) - time < time - (times[after - 1] as number) ? after : after - 1;
}

/** The row in a sentence. */
export function summary(track: Track): string {
  const { admitted, refused, spared } = countsAt(track, Number.POSITIVE_INFINITY);
  const total = track.arrivals.times.length;
  const passed = `${track.name} admitted ${number(admitted)} of ${number(total)}`;
  const others = spared > 0 ? `, refused ${number(refused)} itself and ${number(spared)} fell to another rule` : "";
  if (track.rule === undefined) return `${passed}.`;
  const most = `at most ${number(track.most)} ${unitsOf(track)}in any ${duration(track.window)}`;
  return `${passed}${others}, ${most}; it promises at most ${number(track.bound)}.`;
}

/** "units " where requests cost more than one each. */
function unitsOf({ arrivals }: Track): string {
  return arrivals.costs === undefined ? "" : "units ";
}
