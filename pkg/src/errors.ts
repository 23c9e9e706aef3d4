/**
 * What every failed call of {@link HotKV} and {@link Engine} throws or rejects with. Nothing was spent.
 *
 * `code` is for programs:
 * - the first word of an error reply: `"ERR"`, `"WRONGTYPE"`, `"OOM"`, `"NOPOLICY"`, `"CROSSSLOT"`, …;
 * - `"INVALID_ARGUMENT"`: an argument is wrong; `argument`, `value` and `allowed` say which, what it was and what it may be;
 * - `"CLOSED"`: the client or engine was closed;
 * - `"STORE_UNAVAILABLE"`: the store could not be reached, or went away before it answered. Then the command
 *   may have run, and `retryable` says whether trying again may help.
 *
 * `message` is for people: the reply's whole text, or a sentence.
 */
export class HotKVError extends Error {
  /** Always `"HotKVError"`. */
  override readonly name = "HotKVError";
  /** What went wrong, for programs. */
  readonly code: string;
  /** The wrong argument's name, when `code` is `"INVALID_ARGUMENT"`. */
  declare readonly argument?: string;
  /** What was passed for it. */
  declare readonly value?: unknown;
  /** What it may be. */
  declare readonly allowed?: string;
  /** Whether the same command may succeed when it is tried again, when the store was unavailable. */
  declare readonly retryable?: boolean;

  constructor(code: string, message: string, details: HotKVErrorDetails = {}) {
    super(message, details);
    this.code = code;
    Object.assign(this, details);
  }

  /** The error that an error reply such as `WRONGTYPE Operation against …` stands for. */
  static fromReply(text: string): HotKVError {
    return new HotKVError(text.split(" ", 1)[0] as string, text);
  }
}

/**
 * The error of a call of a client after its `close`.
 *
 * @internal
 */
export function clientClosed(): HotKVError {
  return new HotKVError("CLOSED", "this client is closed");
}

/** What more is known of a {@link HotKVError}. */
export interface HotKVErrorDetails {
  /** The wrong argument's name. */
  readonly argument?: string;
  /** What was passed for it. */
  readonly value?: unknown;
  /** What it may be. */
  readonly allowed?: string;
  /** Whether trying again may help. */
  readonly retryable?: boolean;
  /** What the store or the network threw. */
  readonly cause?: unknown;
}
