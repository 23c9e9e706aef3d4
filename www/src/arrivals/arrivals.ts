/** Requests in order of time: entry `i` of each array is about request `i`. */
export interface Arrivals {
  /** Whole milliseconds since 1970. */
  readonly times: Float64Array;
  /** Units; 1 each when left out. */
  readonly costs?: Float64Array;
}

/** Arrivals from times in any order, each at a cost of 1. */
export function arrivalsAt(times: Iterable<number>): Arrivals {
  return { times: Float64Array.from(times).sort() };
}

/** Arrivals from times and costs in any order; requests of the same millisecond keep theirs. */
export function arrivalsWithCosts(requests: readonly (readonly [time: number, cost: number])[]): Arrivals {
  const sorted = [...requests].sort(([a], [b]) => a - b);
  const times = Float64Array.from(sorted, ([time]) => time);
  if (sorted.every(([, cost]) => cost === 1)) return { times };
  return { times, costs: Float64Array.from(sorted, ([, cost]) => cost) };
}

/** What request `index` costs. */
export function costOf({ costs }: Arrivals, index: number): number {
  return costs?.[index] ?? 1;
}

/** The arrivals with `count` more of cost 1 at `time`. */
export function withMore(arrivals: Arrivals, time: number, count: number): Arrivals {
  const { times, costs } = arrivals;
  const at = upperBound(times, time);
  const inserted = (from: Float64Array, value: number) => {
    const into = new Float64Array(from.length + count);
    into.set(from.subarray(0, at));
    into.fill(value, at, at + count);
    into.set(from.subarray(at), at + count);
    return into;
  };
  if (costs === undefined) return { times: inserted(times, time) };
  return { times: inserted(times, time), costs: inserted(costs, 1) };
}

/** The arrivals but those in `[from, to)`. */
export function without(arrivals: Arrivals, from: number, to: number): Arrivals {
  const first = lowerBound(arrivals.times, from);
  const end = lowerBound(arrivals.times, to);
  if (first === end) return arrivals;
  const kept = (all: Float64Array) => {
    const into = new Float64Array(all.length - (end - first));
    into.set(all.subarray(0, first));
    into.set(all.subarray(end), first);
    return into;
  };
  const times = kept(arrivals.times);
  return arrivals.costs === undefined ? { times } : { times, costs: kept(arrivals.costs) };
}

/** The first index whose value is at least `value`; the length when there is none. */
export function lowerBound(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first index whose value is over `value`; the length when there is none. */
export function upperBound(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** {@link upperBound} for a value that is not far behind `from`, a bound of a smaller value: doubling steps, then halving. */
export function upperBoundFrom(sorted: Float64Array, value: number, from: number): number {
  let low = from;
  let step = 1;
  while (low + step <= sorted.length && (sorted[low + step - 1] as number) <= value) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step, sorted.length);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
