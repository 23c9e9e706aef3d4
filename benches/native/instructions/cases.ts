// What the guard counts, by the name in instructions.json.

/** Two runs of the binary, and how many decisions the second makes more than the first. */
export interface Counted {
  readonly less: readonly string[];
  readonly more: readonly string[];
  readonly decisions: number;
}

const DECISIONS = 100_000;

function decisions(...what: string[]): Counted {
  return { less: ["0", ...what], more: [String(DECISIONS), ...what], decisions: DECISIONS };
}

/** Where nothing else is said: 2,000 keys of 20 bytes, and everything is admitted. */
export const cases: Readonly<Record<string, Counted>> = {
  "gcra, one key": decisions("gcra", "keys=1"),
  "gcra, recovered": decisions("gcra"),
  "gcra, in use": decisions("gcra", "window=86400000"),
  "gcra, refused": decisions("gcra", "limit=1", "window=86400000"),
  "gcra, a new key and its text": {
    less: ["0", "gcra", "keys=20000"],
    more: ["0", "gcra", "keys=60000"],
    decisions: 40_000,
  },
  "token bucket": decisions("limiter:token_bucket"),
  "leaky bucket": decisions("limiter:leaky_bucket"),
  "fixed window": decisions("limiter:fixed_window", "limit=100", "every=1000"),
  "sliding window, 30 entries": decisions("limiter:sliding_window", "limit=100", "every=1000", "warm=70000"),
  "sliding window, 3,000 entries": decisions(
    "limiter:sliding_window",
    "keys=20",
    "limit=100000",
    "every=1000",
    "warm=70000",
  ),
  "policy of one rule": decisions("policy", "rules=1"),
  "policy of four rules": decisions("policy", "rules=4"),
  "gcra as bytes, 16 in a pipeline": decisions("resp", "pipeline=16"),
  "gcra as bytes, one at a time": decisions("resp", "pipeline=1"),
};
