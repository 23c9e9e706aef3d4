import { assertFields, assertInteger, assertName, assertOneOf, isPositive, MAX_INTEGER } from "../arguments.ts";
import { type BlockedBy, invalidOption, ValveError } from "./errors.ts";
import type { AdmitOptions } from "./types.ts";

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
  readonly name: string | undefined;
  readonly scope: string | undefined;
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
  readonly concurrency: { readonly limit: number; readonly lease: number } | undefined;
  /** What `VALVE.DEFINE` is sent. */
  readonly json: string;
}

const RULE_FIELDS = ["limit", "interval", "algorithm", "burst", "name", "scope"];
const ALGORITHMS = ["gcra", "fixed-window", "sliding-window"] as const;

/** Checks a policy; what is wrong is thrown as `INVALID_OPTIONS`, naming the field. */
export function readPolicy(rate: Rate, concurrency: Concurrency | undefined): Policy {
  const rules = [rate].flat().map((rule, index) => readRule(rule, Array.isArray(rate) ? `rate[${index}]` : "rate"));
  if (rules.length === 0) throw invalidOption("rate", rate, "a rule, or an array of at least one");
  const states = rules.map(({ name, algorithm, interval }) => JSON.stringify(name ?? [algorithm, interval]));
  for (const [index, { name }] of rules.entries()) {
    const first = states.indexOf(states[index] as string);
    if (first < index) {
      const same = name === undefined ? "algorithm and interval" : "name";
      throw invalidOption(
        `rate[${index}].name`,
        name,
        `different from that of rate[${first}], which has the same ${same}`,
      );
    }
  }
  const limited = concurrency === undefined ? undefined : readConcurrency(concurrency);
  const spelled = rules.map((rule) => JSON.stringify(rule));
  const order = [...spelled.keys()].sort((a, b) => ((spelled[a] as string) < (spelled[b] as string) ? -1 : 1));
  const allowed = rules.map(({ algorithm, burst, limit }) => (algorithm === "gcra" ? burst : limit));
  const most = Math.min(...allowed);
  return {
    rules,
    order,
    most,
    tightest: allowed.indexOf(most),
    dimensions: [...new Set(rules.flatMap(({ scope }) => scope ?? []))],
    concurrency: limited,
    json: JSON.stringify({ rate: order.map((index) => rules[index]), concurrency: limited }),
  };
}

function readRule(rule: RateRule, at: string): Rule {
  assertFields(rule, RULE_FIELDS, at, invalidOption);
  const { limit, algorithm = "gcra", burst = 1, name, scope } = rule;
  assertInteger(`${at}.limit`, limit, invalidOption);
  const interval = readInterval(`${at}.interval`, rule.interval);
  assertOneOf(`${at}.algorithm`, algorithm, ALGORITHMS, invalidOption);
  assertInteger(`${at}.burst`, burst, invalidOption);
  for (const [field, text] of Object.entries({ name, scope })) {
    if (text !== undefined) assertName(`${at}.${field}`, text, invalidOption);
  }
  if (scope !== undefined && name === undefined) {
    throw invalidOption(`${at}.name`, name, "given, since the rule has a scope");
  }
  if (algorithm === "gcra" && BigInt(burst) * BigInt(interval) > BigInt(MAX_INTEGER) * BigInt(limit)) {
    throw invalidOption(`${at}.burst`, burst, `one that recovers within ${MAX_INTEGER} ms: burst * interval / limit`);
  }
  return {
    algorithm,
    // Left out of nothing: the store knows what means nothing under a window.
    burst: algorithm === "gcra" ? burst : 1,
    interval,
    limit,
    name,
    scope,
  };
}

function readConcurrency(concurrency: Concurrency): { limit: number; lease: number } {
  assertFields(concurrency, ["limit", "lease"], "concurrency", invalidOption);
  assertInteger("concurrency.limit", concurrency.limit, invalidOption);
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
    `whole milliseconds from 1 to ${MAX_INTEGER}, or text such as "1h30m" with ms, s, m, h, d or w`,
  );
}

function parseInterval(text: string): number | undefined {
  let total = 0n;
  const rest = text.replace(
    /(\d{1,16})(?:\.(\d{1,18}))?(ms|[smhdw])/g,
    (_, whole: string, fraction: string | undefined, unit: string) => {
      total += BigInt(whole + (fraction ?? "").padEnd(18, "0")) * (UNITS[unit] as bigint);
      return "";
    },
  );
  return rest === "" && total % SCALE === 0n ? Number(total / SCALE) : undefined;
}

/** What a job asks of its policy: units, and an identity in each dimension. */
export interface Asked {
  readonly cost: number;
  readonly scope: readonly string[];
}

/** A job of which nothing was said. */
const ONE_UNIT: Asked = { cost: 1, scope: [] };
const JOB_OPTIONS = ["cost", "scope", "signal", "maxWaitMs", "priority"];

/** Checks what a job asks; `COST_EXCEEDS_LIMIT` is thrown when it can never start. */
export function readJob(policy: Policy, options: AdmitOptions<RateRule> | undefined): Asked {
  const { rules, most, tightest, dimensions } = policy;
  if (options === undefined && dimensions.length === 0) return ONE_UNIT;
  const given = options ?? {};
  assertFields(given, JOB_OPTIONS, "", invalidOption);
  const { cost = 1 } = given;
  const scope = Object(given.scope);
  assertInteger("cost", cost, invalidOption);
  if (cost > most) {
    throw new ValveError(
      "COST_EXCEEDS_LIMIT",
      `cost ${cost} can never pass rule ${tightest}, which admits at most ${most}`,
      { field: "cost", value: cost, allowed: `at most ${most}`, blockedBy: [blockedBy(rules, tightest)] },
    );
  }
  const identities: string[] = [];
  for (const dimension of dimensions) {
    const identity = Object.hasOwn(scope, dimension) ? scope[dimension] : undefined;
    assertName(`scope.${dimension}`, identity, invalidOption);
    identities.push(identity);
  }
  return { cost, scope: identities };
}

/** The rule of that index as what refuses; the lease limit has the index -1. */
export function blockedBy(rules: readonly Rule[], index: number): BlockedBy {
  const name = rules[index]?.name;
  return name === undefined ? { index } : { index, name };
}
