/** What `gcraLimit` decided. */
export type GcraLimitResult = GcraAllowed | GcraDenied;

/** The request may go on. */
export interface GcraAllowed {
  /** Says which of the two results this is. */
  readonly denied: false;
  /** The burst that was passed. */
  readonly limit: number;
  /** Units still allowed right now. */
  readonly remaining: number;
  /** Always -1: there is nothing to wait for. */
  readonly retryAfterMs: -1;
  /** Milliseconds until the key is back to a full burst. */
  readonly resetAfterMs: number;
  /** Set when the store did not answer and the client's `onUnavailable` decided: `NaN` stands for what is not known. */
  readonly unavailable?: true;
}

/** The request is refused, and nothing was spent. */
export interface GcraDenied {
  /** Says which of the two results this is. */
  readonly denied: true;
  /** The burst that was passed. */
  readonly limit: number;
  /** Units still allowed right now: fewer than the request's count. */
  readonly remaining: number;
  /** Milliseconds until this request would be allowed: exactly, rounded up. -1 when its count is over the burst: never. */
  readonly retryAfterMs: number;
  /** Milliseconds until the key is back to a full burst. */
  readonly resetAfterMs: number;
  /** Set when the store did not answer and the client's `onUnavailable` decided: `NaN` stands for what is not known. */
  readonly unavailable?: true;
}

/** What `rateLimitCheck` decided, or `rateLimitPeek` would. */
export type RateLimitCheckResult = CheckAllowed | CheckRefused;

/** The request may go on. */
export interface CheckAllowed {
  /** Says which of the two results this is. */
  readonly allowed: true;
  /** Units still free. */
  readonly remaining: number;
  /** Always 0: there is nothing to wait for. */
  readonly retryAfterMs: 0;
  /** The limiter's limit. */
  readonly limit: number;
  /** Units in use before this request, rounded up. */
  readonly current: number;
  /** Set when the store did not answer and the client's `onUnavailable` decided: `NaN` stands for what is not known. */
  readonly unavailable?: true;
}

/** The request is refused, and nothing was spent. */
export interface CheckRefused {
  /** Says which of the two results this is. */
  readonly allowed: false;
  /** Units still free: fewer than the request's cost. */
  readonly remaining: number;
  /** Milliseconds until this request would be allowed. -1 when its cost is over the limit: never. */
  readonly retryAfterMs: number;
  /** The limiter's limit. */
  readonly limit: number;
  /** Units in use, rounded up. */
  readonly current: number;
  /** Set when the store did not answer and the client's `onUnavailable` decided: `NaN` stands for what is not known. */
  readonly unavailable?: true;
}

/** How a named limiter counts. */
export type LimiterAlgorithm = "sliding_window" | "token_bucket" | "leaky_bucket" | "gcra" | "fixed_window";

/** Settings of a named limiter beyond its limit and window. */
export type LimiterOptions =
  | {
      /** At most `limit` units in any window; the default. `fixed_window` counts aligned windows, `gcra` spaces units. */
      readonly algo?: "sliding_window" | "gcra" | "fixed_window";
    }
  | {
      /** A bucket of `limit` tokens. */
      readonly algo: "token_bucket";
      /** Tokens a second, up to 6 digits after the point; `limit` per window when left out. Text is kept exactly. */
      readonly refill?: number | string;
    }
  | {
      /** A bucket of size `limit` that drains. */
      readonly algo: "leaky_bucket";
      /** Units a second, up to 6 digits after the point; `limit` per window when left out. Text is kept exactly. */
      readonly drain?: number | string;
    };

/** A named limiter and its totals. */
export interface RateLimitStats {
  /** What it was created as. */
  readonly name: string;
  /** How it counts. */
  readonly algo: LimiterAlgorithm;
  /** Units. */
  readonly limit: number;
  /** Milliseconds. */
  readonly windowMs: number;
  /** Keys with live state. */
  readonly uniqueKeys: number;
  /** Units admitted since the limiter was made. */
  readonly totalAllowed: number;
  /** Units refused since the limiter was made. */
  readonly totalDenied: number;
  /** Tokens a second, as given. */
  readonly refill?: string;
  /** Units a second, as given. */
  readonly drain?: string;
}

/** How `set` stores. */
export interface SetOptions {
  /** Seconds to live. */
  readonly ex?: number;
  /** Milliseconds to live. */
  readonly px?: number;
  /** Only when the key is new. */
  readonly nx?: boolean;
  /** Only when the key exists. */
  readonly xx?: boolean;
  /** Keep the time to live that the key has. */
  readonly keepTtl?: boolean;
}

/** Many decisions of one `gcraLimitMany`: entry `i` of each array is about key `i`. */
export interface GcraLimitManyResult {
  /** 1 when denied, else 0. */
  readonly denied: Uint8Array;
  /** Units still allowed right now. */
  readonly remaining: Float64Array;
  /** Milliseconds until the request would be allowed; -1 when it was, or never will be. */
  readonly retryAfterMs: Float64Array;
  /** Milliseconds until the key is back to a full burst. */
  readonly resetAfterMs: Float64Array;
}
