// What a decision costs against what it could grow with: a line for each, by instructions.

import type { Counted } from "../native/instructions/cases.ts";

export interface Line {
  /** The panel that it is drawn in: what grows. */
  readonly against: string;
  readonly name: string;
  readonly points: readonly (readonly [x: number, counted: Counted])[];
}

const DECISIONS = 50_000;

function line(against: string, name: string, xs: readonly number[], what: (x: number) => string): Line {
  const counted = (x: number): Counted => {
    const words = what(x).split(" ");
    return { less: ["0", ...words], more: [String(DECISIONS), ...words], decisions: DECISIONS };
  };
  return { against, name, points: xs.map((x) => [x, counted(x)]) };
}

/** A sliding log that is full: ten keys, asked as fast as the limit lets them. Over 4,096 units, its entries hold several. */
function fullLog(limit: number): string {
  const entries = Math.min(limit, 4000);
  const every = Math.round(60_000_000 / (entries * 10));
  const cost = Math.max(1, Math.floor(limit / 4096));
  return `limiter:sliding_window keys=10 limit=${limit} every=${every} warm=${entries * 12} warm_cost=${cost}`;
}

const KEYS = [1000, 10_000, 100_000, 1_000_000];
const LIMITS = [10, 100, 1000, 10_000, 100_000, 1_000_000];
const WINDOWS = [1000, 60_000, 3_600_000, 86_400_000, 31_536_000_000];
const RULES = [1, 2, 4, 8, 16, 32];
const PIPELINES = [1, 4, 16, 64, 256];

export const lines: readonly Line[] = [
  line("limit", "GCRA", LIMITS, (limit) => `gcra limit=${limit} window=1000 every=1000`),
  line("limit", "fixed window", LIMITS, (limit) => `limiter:fixed_window limit=${limit} window=1000 every=1000`),
  line("limit", "sliding window, its log full", LIMITS, fullLog),
  line("window", "GCRA", WINDOWS, (window) => `gcra limit=1000 window=${window}`),
  line("window", "fixed window", WINDOWS, (window) => `limiter:fixed_window limit=1000 window=${window}`),
  // The longer the window, the rarer the checks, so that a log has 30 entries in each.
  line(
    "window",
    "sliding window, 30 entries",
    WINDOWS,
    (window) => `limiter:sliding_window keys=200 limit=100 window=${window} every=${Math.round(window / 6)} warm=7000`,
  ),
  line("rules", "policy", RULES, (rules) => `policy rules=${rules}`),
  line("pipeline", "GCRA as bytes", PIPELINES, (pipeline) => `resp pipeline=${pipeline}`),
  line("keys", "GCRA", KEYS, (keys) => `gcra keys=${keys}`),
];
