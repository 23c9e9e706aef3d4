import { simulate } from "tidegate/web";
import type { Arrivals } from "../arrivals/arrivals.ts";
import { withRetries } from "../arrivals/retry.ts";
import { simulated } from "../rule/rule.ts";
import type { Lane } from "../scenario/scenario.ts";
import { ADMITTED, about, type Decided, REFUSED, SPARED, type Track, track } from "./track.ts";

/** A lane with what the engine decided: one row for a rule; the outcome and a row for each rule for a policy. */
export interface LaneOutcome {
  readonly lane: Lane;
  readonly tracks: readonly Track[];
}

/** Sends the requests through the lane's rules, in one call of the engine. */
export function runLane(lane: Lane, first: Arrivals, seed: number): LaneOutcome {
  const { rules, retry } = lane;
  const arrivals = withRetries(rules, first, retry, seed);
  const { times, costs } = arrivals;
  const result = simulate(rules.map(simulated), { times, levels: true, ...(costs === undefined ? {} : { costs }) });
  const { allowed, blockedBy, retryAfterMs, resetAfterMs, levels } = result;
  const [only] = rules;
  if (only !== undefined && rules.length === 1) {
    const decided = { ...about(only), arrivals, fate: allowed, retryAfterMs, resetAfterMs };
    return { lane, tracks: [track(withLevels(decided, levels[0]))] };
  }
  const outcome = track({
    name: "All together",
    terms: `a policy of ${rules.length} rules, one atomic step`,
    window: Math.min(...rules.map(({ interval }) => interval)),
    bound: 0,
    arrivals,
    fate: allowed,
    retryAfterMs,
    resetAfterMs,
  });
  const single = rules.map((rule, index) => {
    const fate = allowed.map((was, request) => {
      if (was === 1) return ADMITTED;
      return ((blockedBy[request] ?? 0) >> index) & 1 ? REFUSED : SPARED;
    });
    return track(withLevels({ ...about(rule), arrivals, fate, retryAfterMs, resetAfterMs }, levels[index]));
  });
  return { lane, tracks: [outcome, ...single] };
}

function withLevels(decided: Decided, levels: Float64Array | undefined): Decided {
  return levels === undefined ? decided : { ...decided, levels };
}
