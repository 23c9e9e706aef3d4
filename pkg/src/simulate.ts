import { addRule as add, simulate as send } from "../wasm/tidegate.js";
import { assertFields, assertInteger, invalidArgument } from "./arguments.ts";
import { BATCH, type Core, column, withSimulation } from "./module.ts";

/** The kinds of rules that the module knows. */
const [FIXED, SLIDING, SCHEDULE, BUCKET] = [0, 1, 2, 3];

/** One rule of a simulation. */
export type SimulatedRule =
  | {
      /** One unit every `interval / limit` milliseconds, `burst` (1 by default) at once. */
      readonly algorithm: "gcra";
      /** Units. */
      readonly limit: number;
      /** Milliseconds in which `limit` units come back. */
      readonly interval: number;
      /** Units at once; 1 by default. */
      readonly burst?: number;
    }
  | {
      /** At most `limit` units in each aligned window, or in any window, of `interval` milliseconds. */
      readonly algorithm: "fixed-window" | "sliding-window";
      /** Units. */
      readonly limit: number;
      /** The window, in milliseconds. */
      readonly interval: number;
    }
  | {
      /** A bucket of `limit` units: `rate` a second come back, or `limit` every `interval` milliseconds. */
      readonly algorithm: "token-bucket" | "leaky-bucket";
      /** Units that it holds. */
      readonly limit: number;
      /** Milliseconds in which `limit` units come back; not used where there is a `rate`. */
      readonly interval: number;
      /** Units a second, a decimal of up to 15 digits, 6 after the point. */
      readonly rate?: string;
    };

/** What {@link simulate} is asked. */
export interface SimulationOptions {
  /** When each request arrives, in whole milliseconds, in order. */
  readonly times: Float64Array;
  /** What each request costs, as many as there are times; 1 each when left out. */
  readonly costs?: Float64Array;
  /** Whether to report `levels` too. */
  readonly levels?: boolean;
}

/** What was decided for each arrival: entry `i` of each array is about arrival `i`. */
export interface SimulationResult {
  /** 1 when admitted, else 0. */
  readonly allowed: Uint8Array;
  /** Milliseconds until the same request would be admitted: 0 when it was, -1 when it never will be. */
  readonly retryAfterMs: Float64Array;
  /** Milliseconds until every rule is idle again. */
  readonly resetAfterMs: Float64Array;
  /** Units that all rules still admit. */
  readonly remaining: Float64Array;
  /** The rules that refused, bit `i` for rule `i`. */
  readonly blockedBy: Uint16Array;
  /** For each rule the units in use after each arrival, fractions included; empty unless asked for. */
  readonly levels: readonly Float64Array[];
}

/**
 * Sends arrivals through rules that start idle, in one call: a request is admitted when every rule admits it, and spends
 * nothing when one refuses. Decides what an engine would decide, a million arrivals in a fraction of a second.
 *
 * ```ts
 * import { simulate } from "tidegate";
 *
 * const twoASecond = { algorithm: "gcra", limit: 2, interval: 1000 } as const;
 * const { allowed } = simulate([twoASecond], { times: Float64Array.of(0, 499, 500) });
 * console.log(allowed); // Uint8Array(3) [ 1, 0, 1 ]
 * ```
 *
 * @throws HotKVError with code `"INVALID_ARGUMENT"`, when a rule, a time or a cost is wrong.
 */
export function simulate(rules: readonly SimulatedRule[], options: SimulationOptions): SimulationResult {
  assertFields(options, ["times", "costs", "levels"]);
  const { times, costs, levels = false } = options;
  if (!Array.isArray(rules)) throw invalidArgument("rules", rules, "an array of rules");
  if (rules.length === 0 || rules.length > 16) throw invalidArgument("rules", rules, "1 to 16 rules");
  if (!(times instanceof Float64Array)) throw invalidArgument("times", times, "a Float64Array");
  if (costs !== undefined && !(costs instanceof Float64Array)) throw invalidArgument("costs", costs, "a Float64Array");
  if (costs !== undefined && costs.length !== times.length) {
    throw invalidArgument("costs", costs.length, `as many as there are times, ${times.length}`);
  }
  times.forEach(assertTime);
  costs?.forEach((cost, index) => {
    if (!(Number.isSafeInteger(cost) && cost > 0)) assertInteger(`costs[${index}]`, cost);
  });
  const total = times.length;
  const result = {
    allowed: new Uint8Array(total),
    retryAfterMs: new Float64Array(total),
    resetAfterMs: new Float64Array(total),
    remaining: new Float64Array(total),
    blockedBy: new Uint16Array(total),
    levels: levels ? rules.map(() => new Float64Array(total)) : [],
  };
  const columns = [result.allowed, result.retryAfterMs, result.resetAfterMs, result.remaining, result.blockedBy];
  columns.push(...result.levels);
  withSimulation((core) => {
    rules.forEach((rule, index) => {
      addRule(core, rule, `rules[${index}]`);
    });
    for (let done = 0; done < total; done += BATCH) {
      const arrivals = Math.min(BATCH, total - done);
      column(0, arrivals).set(times.subarray(done, done + arrivals));
      if (costs === undefined) column(1, arrivals).fill(1);
      else column(1, arrivals).set(costs.subarray(done, done + arrivals));
      send(core.at, arrivals);
      columns.forEach((into, index) => {
        into.set(column(index, arrivals), done);
      });
    }
  });
  return result;
}

const RULE_FIELDS = ["algorithm", "limit", "interval", "burst", "rate"];

function addRule({ at: core }: Core, rule: SimulatedRule, at: string): void {
  assertFields(rule, RULE_FIELDS, at);
  assertInteger(`${at}.limit`, rule.limit);
  assertInteger(`${at}.interval`, rule.interval);
  switch (rule.algorithm) {
    case "gcra": {
      const { burst = 1 } = rule;
      assertInteger(`${at}.burst`, burst);
      if (!add(core, SCHEDULE, rule.limit, rule.interval, burst, "")) {
        throw invalidArgument(`${at}.burst`, burst, "one that recovers within 2^53 - 1 ms: burst * interval / limit");
      }
      return;
    }
    case "token-bucket":
    case "leaky-bucket":
      if (rule.rate === undefined) {
        add(core, SCHEDULE, rule.limit, rule.interval, rule.limit, "");
      } else if (!add(core, BUCKET, rule.limit, rule.interval, rule.limit, rule.rate)) {
        throw invalidArgument(`${at}.rate`, rule.rate, "a positive decimal of up to 15 digits, 6 after the point");
      }
      return;
    case "fixed-window":
    case "sliding-window":
      add(core, rule.algorithm === "sliding-window" ? SLIDING : FIXED, rule.limit, rule.interval, 1, "");
      return;
    default:
      throw invalidArgument(`${at}.algorithm`, (rule as { algorithm: unknown }).algorithm, "a known algorithm");
  }
}

function assertTime(time: number, index: number, times: Float64Array): void {
  if (!Number.isSafeInteger(time) || time < 0) {
    throw invalidArgument(`times[${index}]`, time, "whole milliseconds since 1970");
  }
  if (time < (times[index - 1] ?? 0)) {
    throw invalidArgument(`times[${index}]`, time, `no earlier than the one before, ${times[index - 1]}`);
  }
}
