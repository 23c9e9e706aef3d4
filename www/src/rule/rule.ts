import { type SimulatedRule, simulate } from "tidegate/web";

/** How a rule counts. */
export type Algorithm = "gcra" | "fixed-window" | "sliding-window" | "token-bucket" | "leaky-bucket";

/** One rule as a person describes it. Only `gcra` looks at `burst`, and only the buckets look at `rate`. */
export interface Rule {
  readonly algorithm: Algorithm;
  /** Units. */
  readonly limit: number;
  /** Milliseconds. */
  readonly interval: number;
  /** Units that may come back to back. */
  readonly burst: number;
  /** Units a second as a decimal; `limit` every `interval` when empty. */
  readonly rate: string;
}

/** All algorithms, in the order in which they are offered. */
export const ALGORITHMS: readonly Algorithm[] = [
  "gcra",
  "fixed-window",
  "sliding-window",
  "token-bucket",
  "leaky-bucket",
];

/** A rule with what it leaves out filled in. */
export function rule(algorithm: Algorithm, limit: number, interval: number, more: Partial<Rule> = {}): Rule {
  return { algorithm, limit, interval, burst: 1, rate: "", ...more };
}

/** The rule as the engine's simulation takes it. */
export function simulated({ algorithm, limit, interval, burst, rate }: Rule): SimulatedRule {
  switch (algorithm) {
    case "gcra":
      return { algorithm, limit, interval, burst };
    case "token-bucket":
    case "leaky-bucket":
      return rate === "" ? { algorithm, limit, interval } : { algorithm, limit, interval, rate };
    default:
      return { algorithm, limit, interval };
  }
}

/** What the engine has against the rule, in its own words; nothing when it takes it. */
export function fault(rule: Rule): string | undefined {
  try {
    simulate([simulated(rule)], { times: new Float64Array(0) });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.replace("rules[0].", "") : String(error);
  }
}

/** Whether the rule is a schedule of one exact time (GCRA and the buckets), not a window that counts. */
export function isSchedule({ algorithm }: Rule): boolean {
  return algorithm === "gcra" || isBucket(algorithm);
}

/** Whether the algorithm is one of the two buckets. */
export function isBucket(algorithm: Algorithm): boolean {
  return algorithm === "token-bucket" || algorithm === "leaky-bucket";
}

/** Units that an idle schedule admits back to back. */
export function capacity({ algorithm, limit, burst }: Rule): number {
  return algorithm === "gcra" ? burst : limit;
}

/** Units that a schedule recovers in a millisecond: for drawing, so a float is enough. */
export function recovery({ algorithm, limit, interval, rate }: Rule): number {
  return isBucket(algorithm) && rate !== "" ? Number(rate) / 1000 : limit / interval;
}
