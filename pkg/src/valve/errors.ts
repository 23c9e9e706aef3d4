/** What went wrong with a job or a policy. */
export type ValveErrorCode =
  /** The job costs more than a rule ever admits at once. */
  | "COST_EXCEEDS_LIMIT"
  /** An option is wrong, or another policy is in force in the namespace. */
  | "INVALID_OPTIONS"
  /** The caller's signal, or a lost lease, ended it. */
  | "ABORTED"
  /** It waited as long as it may. */
  | "TIMEOUT"
  /** As many jobs as may wait are waiting. */
  | "QUEUE_FULL"
  /** The valve was closed, or is being drained. */
  | "CLOSED"
  /** The store gave no answer. */
  | "STORE_UNAVAILABLE";

/** What more is known of a {@link ValveError}. */
export interface ValveErrorDetails {
  /** The wrong option's name, what it was, and what it may be. */
  readonly field?: string;
  readonly value?: unknown;
  readonly allowed?: string;
  /** When the job would have been admitted, as last heard. */
  readonly retryAfterMs?: number;
  /** The rules that refused it last. */
  readonly blockedBy?: readonly BlockedBy[];
  /** The fingerprint of this valve's policy and of the one in force, when they differ. */
  readonly fingerprint?: string;
  readonly inForce?: string;
  readonly cause?: unknown;
}

/** A rule that refuses: its index in `rate`, and its name if it has one. The lease limit has index -1. */
export interface BlockedBy {
  readonly index: number;
  readonly name?: string;
}

/** What every failed call of a `Valve` throws or rejects with. `code` is for programs, `message` for people. */
export class ValveError extends Error {
  override readonly name = "ValveError";
  readonly code: ValveErrorCode;
  readonly field?: string;
  readonly value?: unknown;
  readonly allowed?: string;
  readonly retryAfterMs?: number;
  readonly blockedBy?: readonly BlockedBy[];
  readonly fingerprint?: string;
  readonly inForce?: string;

  constructor(code: ValveErrorCode, message: string, { cause, ...details }: ValveErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    Object.assign(this, details);
  }
}

/** The error for a wrong option. */
export function invalidOption(field: string, value: unknown, allowed: string): ValveError {
  const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : display(value);
  return new ValveError("INVALID_OPTIONS", `${field} must be ${allowed}, not ${shown}`, { field, value, allowed });
}

function display(value: unknown): string {
  if (value !== null && typeof value === "object") return Array.isArray(value) ? "an array" : "an object";
  return typeof value === "bigint" ? `${value}n` : String(value);
}
