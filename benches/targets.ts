// The targets: which figures of the results are set against each other, and what the ratio should be.

import { latest, median, type Results } from "./results.ts";

/** One of the figures that were measured: of which file, of what, in which column. */
export type Figure = readonly [file: string, name: string, column: string];

export interface Target {
  readonly what: string;
  readonly ours: Figure;
  readonly theirs?: Figure;
  /** `faster`: theirs over ours must reach it. `more`: ours over theirs must. `most`: ours, or ours over theirs, must not pass it. */
  readonly aim: "faster" | "more" | "most";
  readonly target: number;
  readonly unit: string;
  /** What our figure is divided by before it is shown. */
  readonly scale?: number;
}

const checks = (subject: string, column: string): Figure => ["checks", subject, column];

function faster(what: string, target: number, ours: Figure, theirs: Figure, unit = "ns"): Target {
  return { what, ours, theirs, aim: "faster", target, unit };
}

const MAP = "the hand-written `Map`";
const FLEXIBLE = "rate-limiter-flexible";

export const targets: readonly Target[] = [
  faster(`hot key against ${MAP}`, 1, checks("engine", "1 fresh"), checks("map", "1 fresh")),
  faster(`10,000 keys against ${MAP}`, 1.5, checks("engine", "10000 fresh"), checks("map", "10000 fresh")),
  faster(`1,000,000 keys against ${MAP}`, 3, checks("engine", "1000000 fresh"), checks("map", "1000000 fresh")),
  faster(
    "1,000,000 keys against typed arrays by hand",
    0.9,
    checks("engine", "1000000 fresh"),
    checks("typed-arrays", "1000000 fresh"),
  ),
  faster(`hot key against ${FLEXIBLE}`, 5, checks("engine", "1 fresh"), checks(FLEXIBLE, "1 fresh")),
  faster(
    `hot key, refused, against ${FLEXIBLE}`,
    10,
    ["refusals", "engine", "1 fresh"],
    ["refusals", FLEXIBLE, "1 fresh"],
  ),
  faster(`10,000 keys against ${FLEXIBLE}`, 5, checks("engine", "10000 fresh"), checks(FLEXIBLE, "10000 fresh")),
  faster(`1,000,000 keys against ${FLEXIBLE}`, 7, checks("engine", "1000000 fresh"), checks(FLEXIBLE, "1000000 fresh")),
  faster(
    "1,000,000 keys against express-rate-limit's store",
    5,
    checks("engine", "1000000 fresh"),
    checks("express-rate-limit", "1000000 fresh"),
  ),
  faster(
    "a refusal against an admission, hot key",
    1,
    ["refusals", "engine", "1 fresh"],
    ["refusals", "allowed", "1 fresh"],
  ),
  faster(
    "a refusal against an admission, 10,000 keys",
    1,
    ["refusals", "engine", "10000 fresh"],
    ["refusals", "allowed", "10000 fresh"],
  ),
  {
    what: "memory a key of 20 bytes at 1,000,000",
    ours: ["inserting", "engine", "bytes"],
    aim: "most",
    target: 64,
    unit: "B",
  },
  faster(
    `memory a key against ${FLEXIBLE}`,
    7,
    ["inserting", "engine", "bytes"],
    ["inserting", FLEXIBLE, "bytes"],
    "B",
  ),
  {
    what: "longest pause while 1,000,000 keys arrive",
    ours: ["inserting", "engine", "longest"],
    aim: "most",
    target: 15,
    unit: "ms",
  },
  faster(`longest pause against ${MAP}`, 10, ["inserting", "engine", "longest"], ["inserting", "map", "longest"], "ms"),
  faster(
    "a decision of a batch against a single call, 10,000 keys",
    4,
    ["batch", "batch", "10000 ns"],
    ["batch", "single", "10000 ns"],
  ),
  faster(
    "native, a rule without a key, against governor",
    1,
    ["native", "tidegate without a key", "ns"],
    ["native", "governor without a key", "ns"],
  ),
  faster(
    "native, one key, against governor",
    1,
    ["native", "tidegate, 1 keys", "ns"],
    ["native", "governor, 1 keys", "ns"],
  ),
  faster(
    "native, 10,000 keys, against governor",
    4,
    ["native", "tidegate, 10000 keys", "ns"],
    ["native", "governor, 10000 keys", "ns"],
  ),
  faster(
    "native, 1,000,000 keys, against governor",
    2.5,
    ["native", "tidegate, 1000000 keys", "ns"],
    ["native", "governor, 1000000 keys", "ns"],
  ),
  {
    what: "native, instructions at 2,000 keys, of governor's",
    ours: ["native", "tidegate, instructions, 2000 keys", "instructions"],
    theirs: ["native", "governor, instructions, 2000 keys", "instructions"],
    aim: "most",
    target: 0.4,
    unit: "",
  },
  ...[10, 1000, 1_000_000].map(
    (limit): Target => ({
      what: `sliding window of ${limit.toLocaleString("en-US")}, time of one GCRA's`,
      ours: ["native", `sliding_window, limit ${limit}`, "ns"],
      theirs: ["native", "one GCRA", "ns"],
      aim: "most",
      target: 3,
      unit: "ns",
    }),
  ),
  {
    what: "policy of four rules, time of one GCRA's",
    ours: ["native", "policy of 4", "ns"],
    theirs: ["native", "one GCRA", "ns"],
    aim: "most",
    target: 4,
    unit: "ns",
  },
  ...([1, 16] as const).map(
    (pipeline): Target => ({
      what: `server against Redis and Lua, pipeline ${pipeline}`,
      ours: ["server", "tidegate", `${pipeline} rate`],
      theirs: ["server", "redis and lua", `${pipeline} rate`],
      aim: "more",
      target: pipeline === 1 ? 1.3 : 7,
      unit: "/s",
    }),
  ),
  faster(
    "server against a fixed reply of Node, pipeline 16, CPU a request",
    0.75,
    ["server", "tidegate", "16 cpu"],
    ["server", "fixed reply", "16 cpu"],
  ),
  ...(
    [
      ["p-throttle", 1],
      ["p-queue", 5],
      ["bottleneck", 300],
    ] as const
  ).map(
    ([queue, target]): Target =>
      faster(
        `\`Valve\`, CPU a queued job, against ${queue}`,
        target,
        ["jobs", "valve", "paced"],
        ["jobs", queue, "paced"],
        "µs",
      ),
  ),
  {
    what: "npm wasm, raw",
    ours: ["sizes", "tidegate_bg.wasm", "raw"],
    aim: "most",
    target: 80,
    unit: "KB",
    scale: 1024,
  },
  {
    what: "npm wasm, gzip",
    ours: ["sizes", "tidegate_bg.wasm", "gzip"],
    aim: "most",
    target: 32,
    unit: "KB",
    scale: 1024,
  },
];

/** What became of a target. */
export interface Judged {
  readonly target: Target;
  readonly ours: number;
  readonly theirs: number | undefined;
  /** What is held against the target: a ratio, or our figure where there is nothing beside it. */
  readonly reached: number;
  readonly met: boolean;
}

/** Holds the figures against the target; `undefined` while one of them was never measured. */
export function judge(target: Target, find: (file: string) => Results | undefined = latest): Judged | undefined {
  const figure = ([file, name, column]: Figure): number | undefined => {
    const values = find(file)?.values[name]?.[column];
    return values === undefined ? undefined : median(values) / (target.scale ?? 1);
  };
  const ours = figure(target.ours);
  const theirs = target.theirs && figure(target.theirs);
  if (ours === undefined || (target.theirs !== undefined && theirs === undefined)) return undefined;
  const reached = theirs === undefined ? ours : target.aim === "faster" ? theirs / ours : ours / theirs;
  return {
    target,
    ours,
    theirs,
    reached,
    met: target.aim === "most" ? reached <= target.target : reached >= target.target,
  };
}
