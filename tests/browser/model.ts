/*
 * An independent model of the rules: exact fractions as BigInt pairs, one request at a time, straight from the
 * specification's formulas. It shares nothing with the engine or the page.
 */

export interface ModelRule {
  readonly algorithm: string;
  readonly limit: number;
  readonly interval: number;
  readonly burst?: number;
  readonly rate?: string;
}

interface Verdict {
  readonly allowed: boolean;
  /** 0 when allowed, -1 when never. */
  readonly retry: number;
  readonly admit: () => void;
}

type Decide = (now: number, cost: number) => Verdict;

const ceilDivide = (dividend: bigint, divisor: bigint) => (dividend + divisor - 1n) / divisor;

/** Spacing is `numerator / denominator` ms; `tat` is kept in `1 / denominator` ms. */
function schedule(numerator: bigint, denominator: bigint, burst: bigint): Decide {
  let tat = 0n;
  return (at, units) => {
    const now = BigInt(at) * denominator;
    const cost = BigInt(units);
    const after = (tat > now ? tat : now) + cost * numerator;
    const over = after - now - burst * numerator;
    return {
      allowed: over <= 0n,
      retry: over <= 0n ? 0 : cost > burst ? -1 : Number(ceilDivide(over, denominator)),
      admit: () => {
        tat = after;
      },
    };
  };
}

function fixedWindow(limit: number, interval: number): Decide {
  let index = -1;
  let count = 0;
  return (now, cost) => {
    const current = Math.floor(now / interval);
    const used = current === index ? count : 0;
    const allowed = used + cost <= limit;
    return {
      allowed,
      retry: allowed ? 0 : cost > limit ? -1 : (current + 1) * interval - now,
      admit: () => {
        index = current;
        count = used + cost;
      },
    };
  };
}

function slidingWindow(limit: number, interval: number): Decide {
  const log: { at: number; cost: number }[] = [];
  let used = 0;
  return (now, cost) => {
    for (let first = log[0]; first !== undefined && first.at + interval <= now; first = log[0]) {
      used -= first.cost;
      log.shift();
    }
    const allowed = used + cost <= limit;
    let retry = allowed ? 0 : -1;
    if (!allowed && cost <= limit) {
      let left = used;
      for (const entry of log) {
        left -= entry.cost;
        retry = entry.at + interval - now;
        if (left + cost <= limit) break;
      }
    }
    return {
      allowed,
      retry,
      admit: () => {
        log.push({ at: now, cost });
        used += cost;
      },
    };
  };
}

function decider({ algorithm, limit, interval, burst = 1, rate = "" }: ModelRule): Decide {
  if (algorithm === "fixed-window") return fixedWindow(limit, interval);
  if (algorithm === "sliding-window") return slidingWindow(limit, interval);
  const size = BigInt(algorithm === "gcra" ? burst : limit);
  if (algorithm === "gcra" || rate === "") return schedule(BigInt(interval), BigInt(limit), size);
  const [whole = "0", fraction = ""] = rate.split(".");
  return schedule(1000n * 10n ** BigInt(fraction.length), BigInt(whole + fraction), size);
}

/** What the rules decide together: one atomic step a request. */
export class Model {
  readonly #rules: readonly Decide[];

  constructor(rules: readonly ModelRule[]) {
    this.#rules = rules.map(decider);
  }

  decide(now: number, cost: number): { allowed: boolean; retry: number; blocked: boolean[] } {
    const verdicts = this.#rules.map((decide) => decide(now, cost));
    const blocked = verdicts.map(({ allowed }) => !allowed);
    const waits = verdicts.filter(({ allowed }) => !allowed).map(({ retry }) => retry);
    if (waits.length > 0) return { allowed: false, retry: waits.includes(-1) ? -1 : Math.max(...waits), blocked };
    for (const { admit } of verdicts) admit();
    return { allowed: true, retry: 0, blocked };
  }
}

/** The most units admitted in any `window` milliseconds, found by looking at every admission. */
export function mostInAny(window: number, times: ArrayLike<number>, units: ArrayLike<number>): number {
  let most = 0;
  let sum = 0;
  for (let first = 0, last = 0; last < times.length; last++) {
    sum += units[last] as number;
    for (; (times[last] as number) - (times[first] as number) >= window; first++) sum -= units[first] as number;
    most = Math.max(most, sum);
  }
  return most;
}
