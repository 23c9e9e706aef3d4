import type { Argument, Reply } from "../reply.ts";
import type { BlockedBy } from "./errors.ts";
import type { Concurrency, KnownFields, Rate, ScopeOf } from "./policy.ts";
import type { Timers } from "./timers.ts";

/** Where a valve's policy is kept: any `HotKV` client. */
export interface Store {
  /** Sends the commands in one go; their replies in order, a command's error in its place. */
  pipeline(commands: readonly (readonly [name: string, ...args: readonly Argument[]])[]): Promise<readonly Reply[]>;
}

/** How a valve is made. */
export interface ValveOptions<R extends Rate> {
  /** Where budgets are kept; in this process when left out. */
  readonly store?: Store;
  /** The name that workers with one policy share. */
  readonly namespace: string;
  /** The policy: one rule, or several that are spent in one step. */
  readonly rate: R & KnownFields<R>;
  /** How many jobs run at once, over all workers of the namespace. */
  readonly concurrency?: Concurrency;
  /** How many jobs may wait in this process. */
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
  ? {
      /** Identities by dimension, none of which the policy asks for. */
      readonly scope?: Readonly<Record<string, string>>;
    }
  : {
      /** The job's identity in each dimension that a rule counts apart. */
      readonly scope: Readonly<Record<ScopeOf<R>, string>>;
    };

/** Arguments that may be left out when nothing in them must be given. */
export type OptionsArgument<R extends Rate, O> = [ScopeOf<R>] extends [never] ? [options?: O] : [options: O];

/** What `admit` takes. */
export type AdmitOptions<R extends Rate> = Scoped<R> & {
  /** Units that the job spends against every rule; 1 by default. */
  readonly cost?: number;
};

/** What `reserve` takes. */
export type ReserveOptions<R extends Rate> = AdmitOptions<R> & {
  /** The most milliseconds ahead that the start may be. */
  readonly maxStartInMs: number;
};

/** What `run` takes. */
export type RunOptions<R extends Rate> = AdmitOptions<R> & {
  /** Ends the waiting, and is handed on to the job. */
  readonly signal?: AbortSignal;
  /**
   * The most milliseconds that the job waits; then it is rejected with `TIMEOUT`. While the store is being asked for it, it waits
   * for the answer, which may have spent its cost: the store's `timeoutMs` bounds that.
   */
  readonly maxWaitMs?: number;
  /** Jobs of a higher priority go first; 0 by default. */
  readonly priority?: number;
};

/** What `fetch` takes: what the runtime's own does, and the options of a job. */
export type FetchInit<R extends Rate> = Omit<RequestInit, "priority"> &
  AdmitOptions<R> & {
    /** How often a request may be sent again after a 429 or 503; 3 by default. */
    readonly retries?: number;
    /** The most milliseconds that it waits in all, for its turns and for the server. */
    readonly maxWaitMs?: number;
    /** A number is the job's priority; text is a hint for the runtime. */
    readonly priority?: number | "auto" | "high" | "low";
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
  | {
      /** The job may start, and its cost is spent. */
      readonly allowed: true;
      /** Always 0: there is nothing to wait for. */
      readonly retryAfterMs: 0;
      /** No rule refused. */
      readonly blockedBy: readonly [];
    }
  | {
      /** The job may not start, and nothing is spent. */
      readonly allowed: false;
      /** Milliseconds until no rule refuses it, if nobody else spends. */
      readonly retryAfterMs: number;
      /** The rules that refuse. */
      readonly blockedBy: readonly BlockedBy[];
    };

/** The answer of `reserve`. */
export type ReserveResult =
  | {
      /** The job may start at `startsInMs`, and its cost is spent. */
      readonly allowed: true;
      /** Milliseconds until the job may start; 0 at once. */
      readonly startsInMs: number;
      /** Always 0: there is nothing to ask for again. */
      readonly retryAfterMs: 0;
      /** No rule refused. */
      readonly blockedBy: readonly [];
    }
  | {
      /** No start is reserved, and nothing is spent. */
      readonly allowed: false;
      /** Milliseconds until it could start, if nobody else spends. */
      readonly retryAfterMs: number;
      /** The rules that would let it start no sooner than `maxStartInMs` allows. */
      readonly blockedBy: readonly BlockedBy[];
    };

/** What a valve tells of. */
export interface ValveEvents {
  /** A job was admitted. */
  readonly admitted: {
    /** Units it spent. */
    readonly cost: number;
    /** Milliseconds it waited. */
    readonly waitedMs: number;
  };
  /** A job was refused and waits on. */
  readonly refused: {
    /** Units it would spend. */
    readonly cost: number;
    /** Milliseconds until no rule refuses it, if nobody else spends. */
    readonly retryAfterMs: number;
    /** The rules that refused. */
    readonly blockedBy: readonly BlockedBy[];
  };
  /** A job began to wait. */
  readonly waiting: {
    /** Units it would spend. */
    readonly cost: number;
    /** Jobs that wait before it. */
    readonly ahead: number;
  };
  /** A server answered a `fetch` with 429 or 503. It is sent again unless something `stopped` that. */
  readonly pushedBack: {
    /** The answer's status. */
    readonly status: 429 | 503;
    /** Milliseconds until it is sent again, or would be. */
    readonly retryAfterMs: number;
    /** Why it is not: as often as `retries` allows, longer than `maxWaitMs` allows, or a `body` that is a stream. */
    readonly stopped?: "retries" | "maxWaitMs" | "body";
  };
  /** A running job lost its lease. */
  readonly leaseLost: {
    /** The lease's id. */
    readonly lease: string;
  };
}

/** A valve's figures. */
export interface ValveStats {
  /** Jobs that wait here. */
  readonly waiting: number;
  /** Jobs that run here. */
  readonly running: number;
  /** Jobs admitted since the valve was made. */
  readonly admitted: number;
  /** Answers of the store that refused a job, since the valve was made. */
  readonly refused: number;
}
