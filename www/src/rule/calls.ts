import { isBucket, type Rule } from "./rule.ts";

/** A command of the engine and its arguments. */
export type Call = readonly [name: string, ...args: (string | number)[]];

/** The commands that make a rule, or a policy of several, and the one that asks it. */
export interface Calls {
  readonly setUp: readonly Call[];
  /** A policy's check also names the fingerprint that its set-up answered. */
  readonly check: (cost: number, fingerprint: string) => Call;
}

/** What a check was answered. */
export interface Answer {
  readonly allowed: boolean;
  /** 0 when allowed, -1 when it can never pass. */
  readonly retryAfterMs: number;
}

/** The commands for the rules of one lane, which all count under `name`. Every code sample and every store gets these. */
export function callsFor(rules: readonly Rule[], name: string): Calls {
  const [only] = rules;
  if (rules.length === 1 && only !== undefined) {
    const period = gcraPeriod(only);
    if (period !== undefined) {
      return {
        setUp: [],
        check: (cost) => ["GCRA.LIMIT", `${name}:user:42`, period, only.burst, ...(cost === 1 ? [] : [cost])],
      };
    }
    if (only.algorithm !== "gcra") {
      return {
        setUp: [["RATELIMIT.CREATE", name, only.limit, only.interval, ...limiterOptions(only)]],
        check: (cost) => ["RATELIMIT.CHECK", name, "user:42", ...(cost === 1 ? [] : ["COST", cost])],
      };
    }
  }
  return {
    setUp: [["VALVE.DEFINE", name, JSON.stringify(rules.map(policyRule))]],
    check: (cost, fingerprint) => ["VALVE.ADMIT", name, fingerprint, cost],
  };
}

/** What GCRA.LIMIT calls the period, when that is a whole number of milliseconds: `burst` units at the rule's spacing. */
export function gcraPeriod({ algorithm, limit, interval, burst }: Rule): number | undefined {
  if (algorithm !== "gcra") return undefined;
  const period = (BigInt(burst) * BigInt(interval)) / BigInt(limit);
  const isWhole = period * BigInt(limit) === BigInt(burst) * BigInt(interval);
  return isWhole && period > 0n && period <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(period) : undefined;
}

/** The options of RATELIMIT.CREATE. */
function limiterOptions({ algorithm, rate }: Rule): string[] {
  if (algorithm === "sliding-window") return [];
  const algo = ["ALGO", algorithm.replace("-", "_")];
  if (rate === "" || !isBucket(algorithm)) return algo;
  return [...algo, algorithm === "token-bucket" ? "REFILL" : "DRAIN", rate];
}

/** A rule of a policy. */
export interface PolicyRule {
  readonly limit: number;
  readonly interval: number;
  readonly algorithm?: "fixed-window" | "sliding-window";
  readonly burst?: number;
  readonly name?: string;
}

/** The rule as a policy spells it: there a bucket is GCRA with a burst of the bucket's size. */
export function policyRule(rule: Rule, index: number, all: readonly Rule[]): PolicyRule {
  const spelled = spelling(rule);
  const twin = all.some((other, at) => at !== index && sameKey(spelling(other), spelled));
  return twin ? { ...spelled, name: `rule-${index + 1}` } : spelled;
}

function spelling({ algorithm, limit, interval, burst, rate }: Rule): PolicyRule {
  if (algorithm === "gcra") return burst === 1 ? { limit, interval } : { limit, interval, burst };
  if (!isBucket(algorithm)) return { limit, interval, algorithm: algorithm as "fixed-window" | "sliding-window" };
  if (rate === "") return { limit, interval, burst: limit };
  const [whole = "0", fraction = ""] = rate.split(".");
  return { limit: Number(whole + fraction), interval: 1000 * 10 ** fraction.length, burst: limit };
}

/** Unnamed rules of the same algorithm and interval would share a key. */
function sameKey(a: PolicyRule, b: PolicyRule): boolean {
  return a.algorithm === b.algorithm && a.interval === b.interval;
}

/** Reads the reply to a check: each of the three commands answers with a list of its own. */
export function readAnswer([command]: Call, reply: unknown): Answer {
  if (!Array.isArray(reply)) throw new Error(`${command} answered ${String(reply)}`);
  if (command === "GCRA.LIMIT") {
    const allowed = reply[0] === 0;
    return { allowed, retryAfterMs: allowed ? 0 : Number(reply[3]) };
  }
  return { allowed: reply[0] === 1, retryAfterMs: Number(reply[command === "VALVE.ADMIT" ? 1 : 2]) };
}
