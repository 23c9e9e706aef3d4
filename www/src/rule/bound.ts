import { capacity, isBucket, type Rule } from "./rule.ts";

/**
 * The most units that the rule can admit in any stretch of its own `interval`, wherever that starts: `limit + burst - 1`
 * for GCRA, `limit` for a sliding window, twice `limit` for a fixed one. The tests hold it against the engine, asked as
 * greedily as possible.
 */
export function promisedBound(rule: Rule): number {
  switch (rule.algorithm) {
    case "sliding-window":
      return rule.limit;
    case "fixed-window":
      // A window of one millisecond has no edge to straddle.
      return rule.interval === 1 ? rule.limit : 2 * rule.limit;
    default:
      return capacity(rule) + perInterval(rule) - 1;
  }
}

/**
 * The units that the rule means to admit in one interval: its limit, or what a bucket recovers by a rate of its own,
 * rounded up.
 */
export function perInterval({ algorithm, limit, interval, rate }: Rule): number {
  if (!isBucket(algorithm) || rate === "") return limit;
  const [whole = "0", fraction = ""] = rate.split(".");
  const micro = BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, "0"));
  const perInterval = micro * BigInt(interval);
  return Number((perInterval + 999_999_999n) / 1_000_000_000n);
}
