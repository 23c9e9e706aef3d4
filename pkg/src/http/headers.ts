import { type InnerList, type Item, parseList, serializeItem, serializeList } from "structured-headers";

/*
 * The rate limit fields of draft-ietf-httpapi-ratelimit-headers-10, written and read as structured fields (RFC 9651).
 */

/** A quota as `RateLimit-Policy` states it. */
export interface QuotaPolicy {
  /** The policy's name. */
  readonly name: string;
  /** `q`: units. */
  readonly quota: number;
  /** `w`: whole seconds; left out where the window is no whole number of them. */
  readonly windowSeconds?: number;
}

/** A quota as `RateLimit` says it stands. */
export interface QuotaState {
  /** The policy's name. */
  readonly name: string;
  /** `r`: units that are left. */
  readonly remaining: number;
  /** `t`: whole seconds until more are. */
  readonly resetSeconds?: number;
}

/** The largest integer that a structured field holds. */
const MAX_FIELD_INTEGER = 999_999_999_999_999;

/** The value of `RateLimit-Policy`: `"burst";q=100;w=60,"daily";q=1000;w=86400`. */
export function formatPolicies(policies: readonly QuotaPolicy[]): string {
  return list(policies, ({ quota, windowSeconds }) => [
    ["q", quota],
    ["w", windowSeconds],
  ]);
}

/** The value of `RateLimit`: `"burst";r=50;t=30`. */
export function formatStates(states: readonly QuotaState[]): string {
  return states.map((state) => formatState(fieldName(state.name), state)).join(", ");
}

/** One item of `RateLimit`, its name as {@link fieldName} wrote it: that is the same in every response, and the rest is two integers. */
export function formatState(name: string, { remaining, resetSeconds }: Omit<QuotaState, "name">): string {
  const item = `${name};r=${fieldInteger(remaining)}`;
  return resetSeconds === undefined ? item : `${item};t=${fieldInteger(resetSeconds)}`;
}

/** A name as a structured field's string. */
export function fieldName(name: string): string {
  return serializeItem(name);
}

function fieldInteger(value: number): number {
  return Math.min(value, MAX_FIELD_INTEGER);
}

type Parameter = readonly [name: string, value: number | undefined];

function list<T extends { readonly name: string }>(items: readonly T[], parameters: (item: T) => readonly Parameter[]) {
  const fields = items.map((item): Item => {
    const given = parameters(item).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, fieldInteger(value)] as const],
    );
    return [item.name, new Map(given)];
  });
  return serializeList(fields);
}

/** Whether a name can stand in a structured field: printable ASCII. Quotes and backslashes are escaped there. */
export function isFieldName(name: string): boolean {
  return /^[\x20-\x7e]+$/.test(name);
}

/** Whole seconds for a wait in ms, rounded up: never earlier than the promise. */
export function seconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

/** What a response says of the limits it was answered under. */
export interface ParsedRateLimit {
  /** Every quota of `RateLimit-Policy`. */
  readonly policies: readonly QuotaPolicy[];
  /** Every state of `RateLimit`. */
  readonly states: readonly QuotaState[];
  /** Milliseconds to wait, from `Retry-After` in either form. */
  readonly retryAfterMs?: number;
}

/**
 * Reads `RateLimit-Policy`, `RateLimit` and `Retry-After` (seconds or a date) of a response. A field that does not parse
 * counts as absent, as structured fields demand.
 *
 * ```ts
 * import { parseRateLimit } from "tidegate/fetch";
 *
 * const response = new Response(null, { headers: { "RateLimit": '"burst";r=0;t=30', "Retry-After": "30" } });
 * console.log(parseRateLimit(response).retryAfterMs); // 30000
 * ```
 *
 * @param now The time that a date in `Retry-After` is counted from.
 */
export function parseRateLimit(response: { readonly headers: Headers }, now: number = Date.now()): ParsedRateLimit {
  const policies = items(response.headers.get("RateLimit-Policy")).flatMap(([name, parameters]) => {
    const [quota, windowSeconds] = [integer(parameters, "q"), integer(parameters, "w")];
    if (quota === undefined) return [];
    return [{ name, quota, ...(windowSeconds === undefined ? {} : { windowSeconds }) }];
  });
  const states = items(response.headers.get("RateLimit")).flatMap(([name, parameters]) => {
    const [remaining, resetSeconds] = [integer(parameters, "r"), integer(parameters, "t")];
    if (remaining === undefined) return [];
    return [{ name, remaining, ...(resetSeconds === undefined ? {} : { resetSeconds }) }];
  });
  const retryAfterMs = retryAfter(response.headers.get("Retry-After"), now);
  return { policies, states, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

function items(field: string | null): readonly (readonly [string, ReadonlyMap<string, unknown>])[] {
  if (field === null) return [];
  try {
    return parseList(field).flatMap((item: Item | InnerList) =>
      typeof item[0] === "string" ? [[item[0], item[1]] as const] : [],
    );
  } catch {
    return [];
  }
}

function integer(parameters: ReadonlyMap<string, unknown>, name: string): number | undefined {
  const value = parameters.get(name);
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : undefined;
}

function retryAfter(field: string | null, now: number): number | undefined {
  if (field === null) return undefined;
  if (/^\d+$/.test(field.trim())) return Number(field) * 1000;
  // `Date.parse` takes nearly anything for a date: 1.5, or "wait 5", for a day in 2001, which has long passed.
  if (!/^((mon|tue|wed|thu|fri|sat|sun)[a-z]*,? |\d{4}-\d\d-\d\d)/i.test(field)) return undefined;
  // The form without a comma names no zone and means GMT.
  const date = Date.parse(/^[a-z]+ /i.test(field) ? `${field} GMT` : field);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
