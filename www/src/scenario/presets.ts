import { type Arrivals, arrivalsAt, arrivalsWithCosts } from "../arrivals/arrivals.ts";
import { daily, poisson, steady } from "../arrivals/generate.ts";
import { rule } from "../rule/rule.ts";
import { type Lane, lane, type Scenario, type Source, type View } from "./scenario.ts";

const SECOND = 1000;
const HOUR = 3_600_000;
const DAY = 86_400_000;
/** The first of December 2026, at midnight UTC. */
const MIDNIGHT = 1_796_083_200_000;

/** What a rate slider offers, in requests a second. */
export interface RateRange {
  readonly least: number;
  readonly most: number;
  readonly step: number;
}

/** A situation that teaches something. */
export interface Preset {
  readonly id: string;
  readonly title: string;
  /** What to look at; numbers belong to the outcome, so there are none here. */
  readonly lesson: string;
  readonly lanes: readonly Lane[];
  readonly view: View;
  /** Requests a second, when it makes sense to change that. */
  readonly rate?: RateRange & { readonly usual: number };
  readonly arrivals: (rate: number, seed: number) => Arrivals;
}

const noon = MIDNIGHT + 12 * HOUR;

/** All presets, the front door first. */
export const PRESETS: readonly Preset[] = [
  {
    id: "edge",
    title: "Edge of the window",
    lesson:
      "One full quota in the last millisecond of a window and another in the first of the next. A fixed window starts over at the edge and lets both through. The others remember.",
    lanes: [
      lane(rule("fixed-window", 100, DAY)),
      lane(rule("sliding-window", 100, DAY)),
      lane(rule("gcra", 100, DAY, { burst: 10 })),
    ],
    view: { from: MIDNIGHT - 10, to: MIDNIGHT + 10 },
    arrivals: () => arrivalsAt([...Array(100).fill(MIDNIGHT - 1), ...Array(100).fill(MIDNIGHT)]),
  },
  {
    id: "overload",
    title: "Steady overload",
    lesson:
      "More than the limit, evenly, without a pause. In the long run every rule admits the same; what differs is when. Windows admit in clumps, GCRA spaces, buckets empty first.",
    lanes: [
      lane(rule("gcra", 10, SECOND)),
      lane(rule("fixed-window", 10, SECOND)),
      lane(rule("sliding-window", 10, SECOND)),
      lane(rule("token-bucket", 10, SECOND)),
    ],
    view: { from: noon - 500, to: noon + 6500 },
    rate: { usual: 20, least: 1, most: 100, step: 1 },
    arrivals: (rate) => arrivalsAt(steady(noon, noon + 6 * SECOND, rate)),
  },
  {
    id: "quiet",
    title: "Quiet, then a burst",
    lesson:
      "After a quiet time many requests come at once. The burst setting says how many of them start together; only raise it when the provider tolerates that many.",
    lanes: [
      lane(rule("gcra", 10, SECOND)),
      lane(rule("gcra", 10, SECOND, { burst: 5 })),
      lane(rule("token-bucket", 10, SECOND)),
      lane(rule("leaky-bucket", 20, 2 * SECOND, { rate: "10" })),
    ],
    view: { from: noon - 500, to: noon + 9500 },
    arrivals: () =>
      arrivalsAt([
        ...steady(noon, noon + 3 * SECOND, 2),
        ...Array(25).fill(noon + 5 * SECOND),
        ...steady(noon + 5 * SECOND, noon + 6 * SECOND, 30),
        ...Array(12).fill(noon + 8 * SECOND),
      ]),
  },
  {
    id: "poisson",
    title: "Random traffic",
    lesson:
      "Independent users: requests that know nothing of each other (a Poisson process). Even below the limit on average, clumps are normal. A rule without room for them refuses a lot.",
    lanes: [
      lane(rule("gcra", 10, SECOND)),
      lane(rule("gcra", 10, SECOND, { burst: 5 })),
      lane(rule("sliding-window", 10, SECOND)),
      lane(rule("fixed-window", 10, SECOND)),
    ],
    view: { from: noon - 500, to: noon + 12_500 },
    rate: { usual: 8, least: 1, most: 100, step: 1 },
    arrivals: (rate, seed) => arrivalsAt(poisson(noon, noon + 12 * SECOND, rate, seed)),
  },
  {
    id: "retries",
    title: "Retry storm or polite retry",
    lesson:
      "The same clients meet the same rule; only what they do after a refusal differs. Hammering buys nothing but refusals. Waiting as told, with some jitter, helps; standing in line asks hardly more than once each.",
    lanes: [
      { rules: [rule("gcra", 10, SECOND, { burst: 5 })], retry: { kind: "hammer", every: 100 } },
      { rules: [rule("gcra", 10, SECOND, { burst: 5 })], retry: { kind: "polite" } },
      { rules: [rule("gcra", 10, SECOND, { burst: 5 })], retry: { kind: "queue" } },
    ],
    view: { from: noon - 300, to: noon + 5700 },
    arrivals: () => arrivalsAt(Array(40).fill(noon)),
  },
  {
    id: "policy",
    title: "Several quotas at once",
    lesson:
      "A provider with a short and a long quota. Both are asked in one atomic step: a request that one of them refuses spends nothing of the other.",
    lanes: [
      lane(rule("gcra", 10, SECOND, { burst: 5 }), rule("fixed-window", 40, 10 * SECOND)),
      lane(rule("gcra", 10, SECOND, { burst: 5 })),
    ],
    view: { from: noon - 500, to: noon + 15_500 },
    rate: { usual: 12, least: 1, most: 60, step: 1 },
    arrivals: (rate) => arrivalsAt(steady(noon, noon + 15 * SECOND, rate)),
  },
  {
    id: "weights",
    title: "Heavy requests",
    lesson:
      "Every fifth request costs five units. A cost over the burst can never pass, and the answer says so instead of inviting a retry.",
    lanes: [
      lane(rule("token-bucket", 20, 4 * SECOND, { rate: "5" })),
      lane(rule("sliding-window", 20, 4 * SECOND)),
      lane(rule("gcra", 20, 4 * SECOND, { burst: 4 })),
    ],
    view: { from: noon - 500, to: noon + 12_500 },
    rate: { usual: 6, least: 1, most: 40, step: 1 },
    arrivals: (rate) =>
      arrivalsWithCosts(steady(noon, noon + 12 * SECOND, rate).map((at, index) => [at, index % 5 === 4 ? 5 : 1])),
  },
  {
    id: "years",
    title: "Three years of a daily quota",
    lesson:
      "Simulated time costs nothing. Over years the rules that hold a quota admit nearly the same number; look at the most in any day, and at who waits for midnight.",
    lanes: [lane(rule("fixed-window", 100, DAY)), lane(rule("sliding-window", 100, DAY)), lane(rule("gcra", 100, DAY))],
    view: { from: MIDNIGHT - 10 * DAY, to: MIDNIGHT + 1106 * DAY },
    arrivals: (_, seed) => ({ times: daily(MIDNIGHT, MIDNIGHT + 1096 * DAY, 150_000, seed) }),
  },
  {
    id: "million",
    title: "A day of a million",
    lesson:
      "A million requests in one day through five rules, in one call each. Zoom in anywhere: every one of them is there.",
    lanes: [
      lane(rule("gcra", 10, SECOND, { burst: 5 })),
      lane(rule("fixed-window", 600, 60 * SECOND)),
      lane(rule("sliding-window", 600, 60 * SECOND)),
      lane(rule("token-bucket", 50, 5 * SECOND)),
      lane(rule("leaky-bucket", 20, 2 * SECOND, { rate: "10" })),
    ],
    view: { from: MIDNIGHT, to: MIDNIGHT + DAY },
    arrivals: (_, seed) => ({ times: daily(MIDNIGHT, MIDNIGHT + DAY, 1_000_000, seed) }),
  },
];

/** The preset of that id. */
export function presetOf(id: string): Preset | undefined {
  return PRESETS.find((preset) => preset.id === id);
}

/** A preset as it starts, seen from its end. */
export function begin(preset: Preset): Scenario {
  const { id, lanes, view, rate } = preset;
  const source: Source = { kind: "preset", preset: id, rate: rate?.usual ?? 0, seed: 1 };
  return { lanes, source, view, playhead: view.to };
}

/** The requests of a source. */
export function arrivalsOf(source: Source): Arrivals {
  if (source.kind === "own") return source.arrivals;
  return presetOf(source.preset)?.arrivals(source.rate, source.seed) ?? { times: new Float64Array(0) };
}
