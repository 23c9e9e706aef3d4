import assert from "node:assert/strict";

/** An admission as its caller saw it: made at some time between the two, in ms. */
export interface Admission {
  readonly sent: number;
  readonly answered: number;
  readonly units: number;
}

/** At most `units` in any `window` milliseconds. */
export interface Bound {
  readonly units: number;
  readonly window: number;
}

/**
 * Fails when more was admitted in some window than the bound allows: counted by what callers were answered, and only when
 * an admission lies in the window wherever between its two times it was made.
 */
export function assertNoBreach(admissions: readonly Admission[], bound: Bound, label: string): void {
  for (const { sent: from } of admissions) {
    const inside = admissions.filter(({ sent, answered }) => sent >= from && answered < from + bound.window);
    const units = inside.reduce((sum, admission) => sum + admission.units, 0);
    assert.ok(units <= bound.units, `${label}: ${units} units in the ${bound.window} ms from ${from}`);
  }
}

/**
 * What each command of the load below may admit. A schedule that admits `burst` at once and then one each `spacing` admits
 * at most `burst + window / spacing` in any window.
 */
export const LOAD: readonly { readonly name: string; readonly command: readonly string[]; readonly bound: Bound }[] = [
  { name: "gcra", command: ["GCRA.LIMIT", "killed", "60000", "6"], bound: { units: 6, window: 9_999 } },
  { name: "sliding window", command: ["RATELIMIT.CHECK", "killed", "k"], bound: { units: 5, window: 1000 } },
  { name: "policy", command: ["VALVE.ADMIT", "killed", "FINGERPRINT", "1"], bound: { units: 4, window: 1000 } },
];

/** What is there before the load: a limiter, and a policy whose second rule is never the one that refuses. */
export const SETUP: readonly (readonly string[])[] = [
  ["RATELIMIT.CREATE", "killed", "5", "1000"],
  [
    "VALVE.DEFINE",
    "killed",
    JSON.stringify([
      { limit: 4, interval: "1s", algorithm: "sliding-window" },
      { limit: 1000, interval: "1h", algorithm: "fixed-window" },
    ]),
  ],
];

/** Whether a reply admits. */
export function admits(name: string, reply: unknown): boolean {
  if (!Array.isArray(reply)) return false;
  return name === "gcra" ? reply[0] === 0 : reply[0] === 1;
}
