import { isPositive, MAX_NAME_BYTES, utf8Length } from "../arguments.ts";
import { invalidOption, ValveError } from "./errors.ts";

/** How long: whole milliseconds, or text such as `"1h30m"` or `"0.5s"` with the units ms, s, m, h, d and w. */
export type Interval = number | string;

/** One rule of a policy. */
export interface RateRule {
  /** Units. */
  readonly limit: number;
  /** In which `limit` units may start. */
  readonly interval: Interval;
  /**
   * - `"gcra"` (the default) spaces units evenly, one every `interval / limit`;
   * - `"fixed-window"` admits `limit` in each window aligned on the epoch;
   * - `"sliding-window"` admits `limit` in any stretch of `interval`.
   */
  readonly algorithm?: "gcra" | "fixed-window" | "sliding-window";
  /** Units that may start back to back after a quiet time; 1 by default. Has no meaning under the windows. */
  readonly burst?: number;
  /** What the rule's state is kept under. Rules that would otherwise be told apart by nothing need one. */
  readonly name?: string;
  /** The dimension whose identities the rule counts apart; each job then brings its own. */
  readonly scope?: string;
}

/** One rule, or several that are spent in one step. */
export type Rate = RateRule | readonly RateRule[];

/** How many jobs of the namespace run at once, over all workers. */
export interface Concurrency {
  /** Jobs at once. */
  readonly limit: number;
  /** How long a job may run on after its worker died; 30 s by default. */
  readonly lease?: Interval;
}

/** The identities that jobs under the policy `R` must bring. */
export type ScopeOf<R extends Rate> = R extends readonly (infer Rule)[] ? ScopeOfRule<Rule> : ScopeOfRule<R>;

type ScopeOfRule<Rule> = Rule extends { readonly scope: infer Dimension extends string } ? Dimension : never;

/** `R` with nothing unknown in its rules: what TypeScript infers from an argument would take a misspelled field along. */
export type KnownFields<R> = R extends readonly unknown[]
  ? { readonly [Index in keyof R]: KnownFields<R[Index]> }
  : { readonly [Field in keyof R]: Field extends keyof RateRule ? R[Field] : never };

/** A checked rule, defaults filled in. */
export interface Rule {
  readonly limit: number;
  readonly interval: number;
  readonly algorithm: "gcra" | "fixed-window" | "sliding-window";
  readonly burst: number;
  readonly name?: string;
  readonly scope?: string;
}

/** A checked policy. */
export interface Policy {
  /** In the order they were given. */
  readonly rules: readonly Rule[];
  /** The index in `rules` of each rule as the store is sent them: sorted, so that every worker sends the same. */
  readonly order: readonly number[];
  /** The most that a job may cost. */
  readonly most: number;
  /** The rule that allows the least. */
  readonly tightest: number;
  /** The dimensions that jobs must have an identity in. */
  readonly dimensions: readonly string[];
  /** Lease length in ms and how many there are, when jobs at once are limited. */
  readonly concurrency?: { readonly limit: number; readonly lease: number };
  /** What `VALVE.DEFINE` is sent. */
  readonly json: string;
}

const MAX = Number.MAX_SAFE_INTEGER;
const RULE_FIELDS = ["limit", "interval", "algorithm", "burst", "name", "scope"];
const ALGORITHMS = ["gcra", "fixed-window", "sliding-window"] as const;

/** Checks a policy; what is wrong is thrown as `INVALID_OPTIONS`, naming the field. */
export function readPolicy(rate: Rate, concurrency: Concurrency | undefined): Policy {
  const list = Array.isArray(rate) ? (rate as readonly RateRule[]) : [rate as RateRule];
  if (list.length === 0) throw invalidOption("rate", rate, "a rule, or an array of at least one");
  const rules = list.map((rule, index) => readRule(rule, Array.isArray(rate) ? `rate[${index}]` : "rate"));
  const seen = new Map<string, number>();
  for (const [index, { name, algorithm, interval }] of rules.entries()) {
    const key = JSON.stringify(name === undefined ? [algorithm, interval] : name);
    const before = seen.get(key);
    if (before !== undefined) {
      const same = name === undefined ? "has the same algorithm and interval and no name either" : "has the same name";
      throw invalidOption(`rate[${index}].name`, name, `different from that of rate[${before}], which ${same}`);
    }
    seen.set(key, index);
  }
  const limited = concurrency === undefined ? undefined : readConcurrency(concurrency);
  const spelled = rules.map((rule, index) => ({ index, text: JSON.stringify(rule) }));
  spelled.sort((a, b) => (a.text < b.text ? -1 : 1));
  const order = spelled.map(({ index }) => index);
  const allowed = rules.map(({ algorithm, burst, limit }) => (algorithm === "gcra" ? burst : limit));
  const most = Math.min(...allowed);
  const sorted = order.map((index) => rules[index]);
  return {
    rules,
    order,
    most,
    tightest: allowed.indexOf(most),
    dimensions: [...new Set(rules.flatMap(({ scope }) => (scope === undefined ? [] : [scope])))],
    ...(limited && { concurrency: limited }),
    json: JSON.stringify({ rate: sorted, ...(limited && { concurrency: limited }) }),
  };
}

function readRule(rule: RateRule, at: string): Rule {
  if (rule === null || typeof rule !== "object") {
    throw invalidOption(at, rule, "a rule: { limit, interval, algorithm?, burst?, name?, scope? }");
  }
  onlyFields(rule, at, RULE_FIELDS);
  const { limit, algorithm = "gcra", burst = 1, name, scope } = rule;
  positive(`${at}.limit`, limit);
  const interval = readInterval(`${at}.interval`, rule.interval);
  if (!ALGORITHMS.includes(algorithm)) throw invalidOption(`${at}.algorithm`, algorithm, ALGORITHMS.join(", "));
  positive(`${at}.burst`, burst);
  for (const [field, text] of Object.entries({ name, scope })) if (text !== undefined) readText(`${at}.${field}`, text);
  if (scope !== undefined && name === undefined) {
    throw invalidOption(`${at}.name`, name, "given, since the rule has a scope");
  }
  if (algorithm === "gcra" && BigInt(burst) * BigInt(interval) > BigInt(MAX) * BigInt(limit)) {
    throw invalidOption(`${at}.burst`, burst, `one that recovers within ${MAX} ms: burst * interval / limit`);
  }
  return {
    algorithm,
    // Left out of nothing: the store knows what means nothing under a window.
    burst: algorithm === "gcra" ? burst : 1,
    interval,
    limit,
    ...(name === undefined ? {} : { name }),
    ...(scope === undefined ? {} : { scope }),
  };
}

function readConcurrency(concurrency: Concurrency): { limit: number; lease: number } {
  if (concurrency === null || typeof concurrency !== "object") {
    throw invalidOption("concurrency", concurrency, "{ limit, lease? }");
  }
  onlyFields(concurrency, "concurrency", ["limit", "lease"]);
  positive("concurrency.limit", concurrency.limit);
  return { limit: concurrency.limit, lease: readInterval("concurrency.lease", concurrency.lease ?? 30_000) };
}

const UNITS: Readonly<Record<string, bigint>> = {
  ms: 1n,
  s: 1000n,
  m: 60_000n,
  h: 3_600_000n,
  d: 86_400_000n,
  w: 604_800_000n,
};
/** Parts of a millisecond are counted in 10^-18. */
const SCALE = 10n ** 18n;

/** The whole milliseconds that an interval names. */
export function readInterval(field: string, interval: unknown): number {
  const ms = typeof interval === "string" ? parseInterval(interval) : interval;
  if (isPositive(ms)) return ms;
  throw invalidOption(
    field,
    interval,
    `whole milliseconds from 1 to ${MAX}, or text such as "1h30m" with ms, s, m, h, d or w`,
  );
}

function parseInterval(text: string): number | undefined {
  if (!/^(\d{1,16}(\.\d{1,18})?(ms|[smhdw]))+$/.test(text)) return undefined;
  let total = 0n;
  for (const [, whole = "", fraction = "", unit = ""] of text.matchAll(/(\d+)(?:\.(\d+))?(ms|[smhdw])/g)) {
    total += BigInt(whole + fraction.padEnd(18, "0")) * (UNITS[unit] ?? 0n);
  }
  return total % SCALE === 0n ? Number(total / SCALE) : undefined;
}

/** Throws unless `value` is an integer from 1 to 2^53 - 1. */
export function positive(field: string, value: unknown): asserts value is number {
  if (!isPositive(value)) throw invalidOption(field, value, `an integer from 1 to ${MAX}`);
}

/** Throws unless `value` is text that the store can tell from any other. */
export function readText(field: string, value: unknown): asserts value is string {
  if (typeof value !== "string" || !value.isWellFormed() || utf8Length(value) > MAX_NAME_BYTES) {
    throw invalidOption(field, value, `well-formed text of at most ${MAX_NAME_BYTES} bytes`);
  }
}

/** Throws when `value` has a field that is not one of `fields`. */
export function onlyFields(value: object, at: string, fields: readonly string[]): void {
  for (const field of Object.keys(value)) {
    if (!fields.includes(field)) {
      throw invalidOption(
        `${at}.${field}`,
        (value as Record<string, unknown>)[field],
        `left out: fields are ${fields.join(", ")}`,
      );
    }
  }
}

/** Throws `COST_EXCEEDS_LIMIT` when a job of that cost can never start. */
export function checkCost({ rules, most, tightest }: Policy, cost: number): void {
  positive("cost", cost);
  if (cost <= most) return;
  const { name, algorithm } = rules[tightest] ?? {};
  const what = algorithm === "gcra" ? "burst" : "limit";
  throw new ValveError(
    "COST_EXCEEDS_LIMIT",
    `cost ${cost} can never pass ${name === undefined ? `rule ${tightest}` : `the rule "${name}"`}, whose ${what} is ${most}`,
    {
      field: "cost",
      value: cost,
      allowed: `at most ${most}`,
      blockedBy: [{ index: tightest, ...(name === undefined ? {} : { name }) }],
    },
  );
}
