// Everything that is measured in one JavaScript process, beside the peers; results go to benches/results.

import { keep, progress } from "../results.ts";
import { inFreshTurns, inTurns, type Job, type Side } from "./turns.ts";

const SUBJECTS = ["engine", "hotkv", "map", "typed-arrays", "rate-limiter-flexible", "express-rate-limit"];
const INSERTING = SUBJECTS.filter((subject) => subject !== "hotkv");
const QUEUES = ["valve", "p-throttle", "p-queue", "bottleneck"];
const MILLION = 1_000_000;

/** Runs that test the benchmark itself make every number small. */
const quick = process.argv.includes("--quick");
const scale = (count: number) => (quick ? Math.ceil(count / 100) : count);

function jobs(
  names: readonly string[],
  scenario: string,
  settings: (name: string) => Job["settings"],
): Record<string, Job> {
  return Object.fromEntries(names.map((name) => [name, { scenario, settings: settings(name) }]));
}

/** Puts what was measured at several sizes side by side: columns get the size before their names. */
async function bySize(sizes: readonly number[], measure: (size: number) => Promise<Side>): Promise<Side> {
  const all: Side = { values: {} };
  for (const size of sizes) {
    progress(`${size.toLocaleString("en-US")} ${size === 1 ? "key" : "keys"}`);
    const { values, module } = await measure(size);
    if (module !== undefined) all.module = module;
    for (const [name, columns] of Object.entries(values)) {
      all.values[name] ??= {};
      for (const [column, row] of Object.entries(columns))
        Object.assign(all.values[name], { [`${size} ${column}`]: row });
    }
  }
  return all;
}

const parts: Readonly<Record<string, () => Promise<Side>>> = {
  checks: () =>
    bySize([1, 10_000, MILLION], (size) => {
      const settings = { keys: Math.min(size, scale(size) * 10), checks: scale(60_000) };
      return inTurns(
        jobs(SUBJECTS, "checks", (subject) => ({ subject, ...settings })),
        quick ? 1 : 11,
      );
    }),
  refusals: () =>
    bySize([1, 10_000], (size) => {
      const settings = { keys: size, checks: scale(60_000) };
      return inTurns(
        {
          allowed: { scenario: "checks", settings: { subject: "engine", ...settings } },
          ...jobs(["engine", "map", "rate-limiter-flexible"], "checks", (subject) => ({
            subject,
            refuses: true,
            ...settings,
          })),
        },
        quick ? 1 : 11,
      );
    }),
  inserting: () =>
    inFreshTurns(
      jobs(INSERTING, "inserting", (subject) => ({ subject, keys: scale(MILLION) })),
      quick ? 1 : 3,
    ),
  leaving: () => inFreshTurns({ engine: { scenario: "leaving", settings: { keys: scale(MILLION) } } }, quick ? 1 : 3),
  batch: () =>
    bySize([1, 10_000, MILLION], (size) => {
      const settings = { keys: Math.min(size, scale(size) * 10), checks: scale(60_000) };
      const job = (batch: boolean): Job => ({ scenario: "batch", settings: { batch, ...settings } });
      return inTurns({ single: job(false), batch: job(true) }, quick ? 1 : 11);
    }),
  jobs: () =>
    inTurns(
      jobs(QUEUES, "jobs", (queue) => ({ queue, jobs: scale(5000) })),
      quick ? 1 : 11,
      // The first rounds are mostly the compiler's, which counts for the queue whose code is longest.
      quick ? 1 : 4,
    ),
  queue: () =>
    inFreshTurns(
      jobs(QUEUES, "queue", (queue) => ({ queue, jobs: scale(100_000) })),
      1,
    ),
};

const chosen = process.argv.slice(2).filter((argument) => Object.hasOwn(parts, argument));
for (const name of chosen.length > 0 ? chosen : Object.keys(parts)) {
  progress(name);
  const side = await parts[name]?.();
  if (side === undefined) continue;
  if (quick) console.log(JSON.stringify({ name, ...side }));
  else keep(name, side.values, side.module);
}
