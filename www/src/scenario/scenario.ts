import type { Arrivals } from "../arrivals/arrivals.ts";
import type { Retry } from "../arrivals/retry.ts";
import type { Rule } from "../rule/rule.ts";

/** One contestant: a rule, or a policy of several that admits only what all of them admit. */
export interface Lane {
  readonly rules: readonly Rule[];
  readonly retry: Retry;
}

/** Where the requests come from: a preset at a rate, or times of one's own. */
export type Source =
  | { readonly kind: "preset"; readonly preset: string; readonly rate: number; readonly seed: number }
  | { readonly kind: "own"; readonly arrivals: Arrivals };

/** A stretch of time on screen: `from` up to, not including, `to`. */
export interface View {
  readonly from: number;
  readonly to: number;
}

/** Everything that a shared link brings back. */
export interface Scenario {
  readonly lanes: readonly Lane[];
  readonly source: Source;
  readonly view: View;
  /** The moment that is "now" on screen, in milliseconds since 1970. */
  readonly playhead: number;
}

/** The most lanes side by side, and rules in one of them. */
export const MOST_LANES = 8;
export const MOST_RULES = 6;

/** A lane of one rule, or of several, whose refused clients go away. */
export function lane(...rules: readonly Rule[]): Lane {
  return { rules, retry: { kind: "never" } };
}
