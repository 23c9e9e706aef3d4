export { type BlockedBy, ValveError, type ValveErrorCode, type ValveErrorDetails } from "./errors.ts";
export type { Concurrency, Interval, KnownFields, Rate, RateRule, ScopeOf } from "./policy.ts";
export type { Timers } from "./timers.ts";
export type {
  AdmitOptions,
  AdmitResult,
  FetchInit,
  JobContext,
  OptionsArgument,
  ReserveOptions,
  ReserveResult,
  RunOptions,
  Scoped,
  Store,
  ValveEvents,
  ValveOptions,
  ValveStats,
} from "./types.ts";
