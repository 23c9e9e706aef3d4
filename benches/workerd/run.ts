// Checks a second through workerd, storage in memory, beside a hand-written counter: `node benches/workerd/run.ts`.
//
// Each is compared with the counter of its own round, and the order turns around from round to round: what else the machine
// does changes slower than that. The processor time that workerd takes for a request depends less on it still.

import { readdirSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle, temporaryFolder, Workerd } from "../../tests/workerd/workerd.ts";

const ROUNDS = Number(process.env["ROUNDS"] ?? 25);
const ROUND_MS = Number(process.env["ROUND_MS"] ?? 700);
const CONNECTIONS = 16;

const folder = temporaryFolder();
const workerd = await Workerd.start({
  folder: await bundle(fileURLToPath(new URL("./worker.ts", import.meta.url)), folder),
  storage: join(folder, "storage"),
  classes: { TIDEGATE: "TidegateObject", COUNTER: "Counter" },
});

/** Processor time that all of workerd's threads took so far, in microseconds; Linux says it in nanoseconds. */
function processorTime(): number {
  const tasks = `/proc/${workerd.pid}/task`;
  const taken = readdirSync(tasks).map((task) => {
    try {
      return Number(readFileSync(`${tasks}/${task}/schedstat`, "utf8").split(" ")[0]);
    } catch {
      // The thread ended meanwhile.
      return 0;
    }
  });
  return taken.reduce((sum, time) => sum + time, 0) / 1000;
}

interface Measured {
  /** Requests answered a second. */
  readonly rate: number;
  /** Processor time of a request, in microseconds. */
  readonly time: number;
}

async function measure(path: string): Promise<Measured> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const url = new URL(path, workerd.url);
  const ends = performance.now() + ROUND_MS;
  let answered = 0;
  const once = () =>
    new Promise<void>((done, reject) => {
      const sent = request(url, { agent }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`${path}: ${response.statusCode}`));
        response.resume().on("end", done);
      });
      sent.on("error", reject).end();
    });
  const client = async () => {
    while (performance.now() < ends) {
      await once();
      answered++;
    }
  };
  const started = performance.now();
  const before = processorTime();
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  const time = (processorTime() - before) / answered;
  agent.destroy();
  return { rate: (answered * 1000) / (performance.now() - started), time };
}

const subjects = [
  { path: "/counter", name: "hand-written counter", checks: 1 },
  { path: "/check", name: "tidegate, one a request", checks: 1 },
  { path: "/pipeline", name: "tidegate, 16 at once", checks: 16 },
] as const;
type Path = (typeof subjects)[number]["path"];

const rounds: Record<Path, Measured>[] = [];
try {
  for (const { path } of subjects) await measure(path);
  for (let round = 0; round < ROUNDS; round++) {
    const order = round % 2 === 0 ? subjects : subjects.toReversed();
    const row: Partial<Record<Path, Measured>> = {};
    for (const { path } of order) row[path] = await measure(path);
    rounds.push(row as Record<Path, Measured>);
  }
} finally {
  await workerd.kill();
  rmSync(folder, { recursive: true, force: true });
}

/** The median, and the quartiles around it. */
function spread(values: readonly number[], digits: number): string {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, median, high] = [0.25, 0.5, 0.75].map((part) =>
    (sorted[Math.round((sorted.length - 1) * part)] ?? 0).toFixed(digits),
  );
  return `${median} (${low}-${high})`;
}

console.log(`medians and quartiles of ${ROUNDS} rounds; aims: 0.9 of the counter for one, 5 times it for 16\n`);
for (const { path, name, checks } of subjects) {
  const rates = rounds.map((round) => round[path].rate * checks);
  const ratios = rounds.map((round) => (round[path].rate * checks) / round["/counter"].rate);
  const times = rounds.map((round) => round[path].time);
  const ofTime = rounds.map((round) => (round["/counter"].time * checks) / round[path].time);
  console.log(`${name.padEnd(24)} ${spread(rates, 0)} checks a second, ${spread(ratios, 2)} of the counter`);
  console.log(`${"".padEnd(24)} ${spread(times, 0)} µs of processor time a request, ${spread(ofTime, 2)} by that`);
}
