import { shown } from "../arguments.ts";

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
  /** The wrong option's name. */
  readonly field?: string;
  /** What it was. */
  readonly value?: unknown;
  /** What it may be. */
  readonly allowed?: string;
  /** Milliseconds until the job would have been admitted, as last heard. */
  readonly retryAfterMs?: number;
  /** The rules that refused it last. */
  readonly blockedBy?: readonly BlockedBy[];
  /** The fingerprint of this valve's policy, when another one is in force. */
  readonly fingerprint?: string;
  /** The fingerprint of the policy in force. */
  readonly inForce?: string;
  /** What the store or the caller's signal gave as the reason. */
  readonly cause?: unknown;
}

/** A rule that refuses: its index in `rate`, and its name if it has one. The lease limit has index -1. */
export interface BlockedBy {
  /** Where it is in `rate`. */
  readonly index: number;
  /** Its name, if it has one. */
  readonly name?: string;
}

/** What every failed call of a `Valve` throws or rejects with. `code` is for programs, `message` for people. */
export class ValveError extends Error {
  /** Always `"ValveError"`. */
  override readonly name = "ValveError";
  /** What went wrong, for programs. */
  readonly code: ValveErrorCode;
  /** The wrong option's name. */
  declare readonly field?: string;
  /** What it was. */
  declare readonly value?: unknown;
  /** What it may be. */
  declare readonly allowed?: string;
  /** Milliseconds until the job would have been admitted, as last heard. */
  declare readonly retryAfterMs?: number;
  /** The rules that refused it last. */
  declare readonly blockedBy?: readonly BlockedBy[];
  /** The fingerprint of this valve's policy, when another one is in force. */
  declare readonly fingerprint?: string;
  /** The fingerprint of the policy in force. */
  declare readonly inForce?: string;

  constructor(code: ValveErrorCode, message: string, details: ValveErrorDetails = {}) {
    super(message, details);
    this.code = code;
    Object.assign(this, details);
  }
}

/** The error for a wrong option. */
export function invalidOption(field: string, value: unknown, allowed: string): ValveError {
  return new ValveError("INVALID_OPTIONS", `${field} must be ${allowed}, not ${shown(value)}`, {
    field,
    value,
    allowed,
  });
}
