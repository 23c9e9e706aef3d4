import type { Argument, Reply } from "../reply.ts";
import type { BlockedBy } from "./errors.ts";
import type { Concurrency, Rate, ScopeOf } from "./policy.ts";
import type { Timers } from "./timers.ts";

/** Where a valve's policy is kept: any `HotKV` client. */
export interface Store {
  pipeline(commands: readonly (readonly [name: string, ...args: readonly Argument[]])[]): Promise<readonly Reply[]>;
}

/** How a valve is made. */
export interface ValveOptions<R extends Rate> {
  /** Where budgets are kept; in this process when left out. */
  readonly store?: Store;
  /** The name that workers with one policy share. */
  readonly namespace: string;
  /** The policy: one rule, or several that are spent in one step. */
  readonly rate: R;
  /** How many jobs run at once, over all workers of the namespace. */
  readonly concurrency?: Concurrency;
  readonly queue?: {
    /** The most jobs that wait here; one more is rejected with `QUEUE_FULL`. No limit by default. */
    readonly maxWaiting?: number;
  };
  /**
   * After a promised instant at which another worker was faster, a job waits a random part of this many milliseconds longer,
   * so that workers spread out; 10 by default. A promise that nobody else took is kept to the millisecond.
   */
  readonly spreadMs?: number;
  /** Seeds the spread, for tests; random by default. */
  readonly seed?: number;
  /** The time and the timer, for tests. */
  readonly timers?: Timers;
}

/** The part of a job's options that its policy asks for: an identity in each scoped dimension. */
export type Scoped<R extends Rate> = [ScopeOf<R>] extends [never]
  ? { readonly scope?: Readonly<Record<string, string>> }
  : { readonly scope: Readonly<Record<ScopeOf<R>, string>> };

/** Arguments that may be left out when nothing in them must be given. */
export type OptionsArgument<R extends Rate, O> = [ScopeOf<R>] extends [never] ? [options?: O] : [options: O];

/** What `admit` takes. */
export type AdmitOptions<R extends Rate> = Scoped<R> & {
  /** Units that the job spends against every rule; 1 by default. */
  readonly cost?: number;
};

/** What `run` takes. */
export type RunOptions<R extends Rate> = AdmitOptions<R> & {
  /** Ends the waiting, and is handed on to the job. */
  readonly signal?: AbortSignal;
  /** The most milliseconds that the job waits; then it is rejected with `TIMEOUT`. */
  readonly maxWaitMs?: number;
  /** Jobs of a higher priority go first; 0 by default. */
  readonly priority?: number;
};

/** What a job is told. */
export interface JobContext {
  /** Aborts when the caller's signal does, or when the job's lease was lost. */
  readonly signal: AbortSignal;
  /** How long it waited. */
  readonly waitedMs: number;
  /** The id of its lease, where jobs at once are limited. */
  readonly lease?: string;
}

/** The answer of `admit`. */
export type AdmitResult =
  | { readonly allowed: true; readonly retryAfterMs: 0; readonly blockedBy: readonly [] }
  | { readonly allowed: false; readonly retryAfterMs: number; readonly blockedBy: readonly BlockedBy[] };

/** What a valve tells of. */
export interface ValveEvents {
  /** A job was admitted. */
  readonly admitted: { readonly cost: number; readonly waitedMs: number };
  /** A job was refused and waits on. */
  readonly refused: { readonly cost: number; readonly retryAfterMs: number; readonly blockedBy: readonly BlockedBy[] };
  /** A job began to wait. */
  readonly waiting: { readonly cost: number; readonly ahead: number };
  /** A running job lost its lease. */
  readonly leaseLost: { readonly lease: string };
}

/** A valve's figures. */
export interface ValveStats {
  readonly waiting: number;
  readonly running: number;
  /** Jobs admitted, and answers of the store that refused one, since the valve was made. */
  readonly admitted: number;
  readonly refused: number;
}
