import {
  ALGORITHMS,
  assertFields,
  assertFunctions,
  assertInteger,
  assertOneOf,
  invalidArgument,
} from "../arguments.ts";
import { HotKVError } from "../errors.ts";
import type { Client } from "../hotkv.ts";
import type { LimiterAlgorithm } from "../results.ts";
import { fieldName, formatPolicies, formatState, isFieldName, seconds } from "./headers.ts";

/** A limit on requests. */
export interface HttpPolicy {
  /** What headers and problem details call it: printable ASCII. */
  readonly name: string;
  /** Units a client may spend: at once after a quiet time, or in a window. */
  readonly limit: number;
  /** Milliseconds in which `limit` units come back. */
  readonly windowMs: number;
  /** How it counts; `"gcra"` by default, which needs no set-up in the store. */
  readonly algorithm?: LimiterAlgorithm;
}

/** What every middleware takes. `R` is the framework's request. */
export interface GuardOptions<R> {
  /** Where budgets are kept. */
  readonly store: Client;
  /**
   * The limits, each checked in turn, the strictest first: a refusal by one leaves those after it unspent, but not those
   * before it. Where that matters, use a `Valve`, which spends all or nothing.
   */
  readonly policies: HttpPolicy | readonly HttpPolicy[];
  /** Whose budget a request spends; the client's address by default. */
  readonly key?: (request: R) => string | Promise<string>;
  /** Units that a request spends; 1 by default. */
  readonly cost?: (request: R) => number | Promise<number>;
  /** Requests that are not counted. */
  readonly skip?: (request: R) => boolean | Promise<boolean>;
  /** What to do when the store can't be reached: `"throw"` (the default), or go on as if `"allow"`ed or `"deny"`ed. */
  readonly onUnavailable?: "throw" | "allow" | "deny";
  /** Also send `X-RateLimit-Limit`, `-Remaining` and `-Reset`, of the limit that is closest to refusing. */
  readonly legacyHeaders?: boolean;
}

/** What a guard says of one request. */
export interface Verdict {
  readonly allowed: boolean;
  /** Headers to send, whatever the answer is. */
  readonly headers: Readonly<Record<string, string>>;
  /** What to answer when it is refused: RFC 9457 problem details, with status 429, or 503 when the store is down. */
  readonly problem?: Problem;
}

/** RFC 9457 problem details. */
export interface Problem {
  /** A URI that names the kind of problem; `quota-exceeded` for a refusal. */
  readonly type: string;
  /** The kind of problem, for people. */
  readonly title: string;
  /** 429 for a refusal, 503 when the store did not answer. */
  readonly status: 429 | 503;
  /** What happened to this request, for people. */
  readonly detail: string;
  /** The names of the policies that refused. */
  readonly "violated-policies"?: readonly string[];
}

/** A policy, and what is the same for every request under it. */
interface Prepared extends Required<HttpPolicy> {
  /** Its name as a header spells it. */
  readonly field: string;
  /** Its name as a key spells it. */
  readonly id: string;
  /** The limiter's name. It holds the settings, so a changed policy never counts in the old one's limiter. */
  readonly limiter: string;
}

/** What one policy decided. */
interface Decided {
  readonly policy: Prepared;
  readonly denied: boolean;
  readonly remaining: number;
  /** -1 when it can never pass. */
  readonly retryAfterMs: number;
  readonly resetAfterMs: number | undefined;
  /** The store did not answer, and its client's own `onUnavailable` decided. */
  readonly unavailable: true | undefined;
}

/** The options of every middleware: of its guard, of how a client's address is found, and its own answer. */
const OPTIONS = [
  "store",
  "policies",
  "key",
  "cost",
  "skip",
  "onUnavailable",
  "legacyHeaders",
  "proxies",
  "ipv6Prefix",
  "onDenied",
];

/** The problem type of a refusal, registered by draft-ietf-httpapi-ratelimit-headers. */
const QUOTA_EXCEEDED = "https://iana.org/assignments/http-problem-types#quota-exceeded";

/**
 * The one core of all middleware: decides requests by policies and says what to send.
 *
 * @param fallbackKey Whose budget a request spends when the options have no `key`.
 * @throws HotKVError with code `INVALID_ARGUMENT` when an option is wrong.
 */
export function createGuard<R>(
  options: GuardOptions<R>,
  fallbackKey: (request: R) => string,
): (request: R) => Promise<Verdict | undefined> {
  assertFields(options, OPTIONS);
  const { store, key = fallbackKey, cost, skip, onUnavailable = "throw", legacyHeaders = false } = options;
  if (typeof store?.gcraLimit !== "function") throw invalidArgument("store", store, "a HotKV client");
  assertFunctions({ key, cost, skip });
  const given = [options.policies ?? []].flat() as readonly HttpPolicy[];
  if (given.length === 0) throw invalidArgument("policies", options.policies, "a policy, or an array of at least one");
  checkPolicies(given);
  const policies = given.map(prepare);
  assertOneOf("onUnavailable", onUnavailable, ["throw", "allow", "deny"]);
  const policyField = formatPolicies(
    policies.map(({ name, limit, windowMs }) => ({
      name,
      quota: limit,
      ...(windowMs % 1000 === 0 ? { windowSeconds: windowMs / 1000 } : {}),
    })),
  );

  return async (request) => {
    if (skip !== undefined && (await skip(request))) return undefined;
    // What is there already is not waited for: each wait is another turn for every request. One promise at a time, too: another
    // one that failed meanwhile would be an error that nobody caught.
    const whose = key(request);
    const client = typeof whose === "string" ? whose : await whose;
    // Anything else would be one budget for all whose key is not known.
    if (typeof client !== "string") throw invalidArgument("key(request)", client, "text");
    const spends = cost === undefined ? 1 : cost(request);
    const units = typeof spends === "number" ? spends : await spends;
    assertInteger("cost(request)", units);
    const decided: Decided[] = [];
    try {
      for (const policy of policies) {
        const decision = await decide(store, policy, client, units);
        if (decision.unavailable) return withoutStore(!decision.denied);
        decided.push(decision);
        if (decision.denied) break;
      }
    } catch (error) {
      if (!isUnavailable(error) || onUnavailable === "throw") throw error;
      return withoutStore(onUnavailable === "allow");
    }
    const refusing = decided.filter(({ denied }) => denied);
    const headers: Record<string, string> = {
      "RateLimit-Policy": policyField,
      RateLimit: (refusing.length > 0 ? refusing : decided).map(state).join(", "),
      ...(legacyHeaders ? legacy(refusing.length > 0 ? refusing : decided) : {}),
    };
    const [refused] = refusing;
    if (refused === undefined) return { allowed: true, headers };
    if (refused.retryAfterMs >= 0) headers["Retry-After"] = String(seconds(refused.retryAfterMs));
    return { allowed: false, headers, problem: quotaExceeded(refused, units) };
  };
}

function prepare({ name, limit, windowMs, algorithm = "gcra" }: HttpPolicy): Prepared {
  const id = encode(name);
  const limiter = `rl:${id}:${algorithm}:${limit}:${windowMs}`;
  return { name, limit, windowMs, algorithm, field: fieldName(name), id, limiter };
}

/** Asks the store, and makes the limiter that is not there yet. */
async function decide(store: Client, policy: Prepared, client: string, cost: number): Promise<Decided> {
  const { limit, windowMs, algorithm, id, limiter } = policy;
  // The braces keep all budgets of one client in one place; encoding keeps any two clients and policies apart.
  const identity = encode(client);
  if (algorithm === "gcra") {
    const key = `rl:{${identity}}:${id}`;
    const { denied, remaining, retryAfterMs, resetAfterMs, unavailable } = await store.gcraLimit(
      key,
      windowMs,
      limit,
      cost,
    );
    return { policy, denied, remaining, retryAfterMs, resetAfterMs, unavailable };
  }
  const check = () => store.rateLimitCheck(limiter, identity, { cost });
  let result: Awaited<ReturnType<typeof check>>;
  try {
    result = await check();
  } catch (error) {
    if (!(error instanceof HotKVError && error.message.includes("limiter not found"))) throw error;
    await store.rateLimitCreate(limiter, limit, windowMs, { algo: algorithm }).catch((raced: unknown) => {
      if (!(raced instanceof HotKVError && raced.message.includes("limiter already exists"))) throw raced;
    });
    result = await check();
  }
  const { allowed, remaining, retryAfterMs, unavailable } = result;
  return { policy, denied: !allowed, remaining, retryAfterMs, resetAfterMs: undefined, unavailable };
}

/** How a policy stands, as `RateLimit` says it: for one that refuses, `t` is when the request would pass. */
function state({ policy, denied, remaining, retryAfterMs, resetAfterMs }: Decided): string {
  const ms = denied ? retryAfterMs : resetAfterMs;
  return formatState(policy.field, { remaining, ...(ms === undefined || ms < 0 ? {} : { resetSeconds: seconds(ms) }) });
}

function legacy(decided: readonly Decided[]): Record<string, string> {
  const [first, ...others] = decided;
  if (first === undefined) return {};
  const closest = others.reduce((least, next) => (next.remaining < least.remaining ? next : least), first);
  const { policy, denied, remaining, retryAfterMs, resetAfterMs = policy.windowMs } = closest;
  const reset = denied && retryAfterMs >= 0 ? retryAfterMs : resetAfterMs;
  return {
    "X-RateLimit-Limit": String(policy.limit),
    "X-RateLimit-Remaining": String(remaining),
    "X-RateLimit-Reset": String(seconds(reset)),
  };
}

function quotaExceeded({ policy, retryAfterMs }: Decided, cost: number): Problem {
  const detail =
    retryAfterMs < 0
      ? `This request costs ${cost} units, more than the ${policy.limit} that "${policy.name}" ever admits at once.`
      : `The limit "${policy.name}" is used up; this request would pass in ${seconds(retryAfterMs)} s.`;
  return {
    type: QUOTA_EXCEEDED,
    title: "Request cannot be satisfied as assigned quota has been exceeded",
    status: 429,
    detail,
    "violated-policies": [policy.name],
  };
}

/** What is decided without the store, of which nothing can be told. */
function withoutStore(allowed: boolean): Verdict {
  if (allowed) return { allowed, headers: {} };
  const detail = "The limits of this service can't be checked just now; try again in a moment.";
  const problem: Problem = { type: "about:blank", title: "Service Unavailable", status: 503, detail };
  return { allowed, headers: { "Retry-After": "1" }, problem };
}

function isUnavailable(error: unknown): boolean {
  return error instanceof HotKVError && error.code === "STORE_UNAVAILABLE";
}

function encode(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    throw invalidArgument("key", text, "well-formed text, without lone surrogates");
  }
}

function checkPolicies(policies: readonly HttpPolicy[]): void {
  const names = new Set<string>();
  for (const [index, policy] of policies.entries()) {
    const at = `policies[${index}]`;
    assertFields(policy, ["name", "limit", "windowMs", "algorithm"], at);
    const { name, limit, windowMs, algorithm = "gcra" } = policy;
    if (typeof name !== "string" || !isFieldName(name)) {
      throw invalidArgument(`${at}.name`, name, "printable ASCII text, since headers carry it");
    }
    if (names.has(name)) throw invalidArgument(`${at}.name`, name, "different from the other policies' names");
    names.add(name);
    assertInteger(`${at}.limit`, limit);
    assertInteger(`${at}.windowMs`, windowMs);
    assertOneOf(`${at}.algorithm`, algorithm, ALGORITHMS);
  }
}
