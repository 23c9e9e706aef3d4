// Checks a second through workerd beside a hand-written counter, storage in memory; how long the slowest of a hundred takes, and
// the CPU of a check. Results go to benches/results.

import { rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle, temporaryFolder, Workerd } from "../../tests/workerd/workerd.ts";
import { keep, progress } from "../results.ts";
import { cpuOf } from "../server/cpu.ts";

const ROUNDS = 15;
const ROUND_MS = 700;
const CONNECTIONS = 16;
/** What is asked, and how many checks one request is. */
const paths = { counter: 1, check: 1, pipeline: 16 } as const;

const folder = temporaryFolder();
const workerd = await Workerd.start({
  folder: await bundle(fileURLToPath(new URL("./worker.ts", import.meta.url)), folder),
  storage: join(folder, "storage"),
  classes: { TIDEGATE: "TidegateObject", COUNTER: "Counter" },
});

/** One round of requests from some connections at once. */
async function round(path: string, checks: number): Promise<{ rate: number; p99: number; cpu: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const url = new URL(path, workerd.url);
  const took: number[] = [];
  const once = () =>
    new Promise<void>((done, reject) => {
      const sent = request(url, { agent }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`${path}: ${response.statusCode}`));
        response.resume().on("end", done);
      });
      sent.on("error", reject).end();
    });
  const ends = performance.now() + ROUND_MS;
  const client = async () => {
    while (performance.now() < ends) {
      const asked = performance.now();
      await once();
      took.push(performance.now() - asked);
    }
  };
  const cpu = cpuOf(workerd.pid);
  const started = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  const lasted = performance.now() - started;
  agent.destroy();
  const all = took.length * checks;
  took.sort((a, b) => a - b);
  return {
    rate: (all * 1000) / lasted,
    p99: took[Math.floor(took.length * 0.99)] ?? Number.NaN,
    cpu: (cpuOf(workerd.pid) - cpu) / 1000 / all,
  };
}

const values: Record<string, Record<string, number[]>> = {};
try {
  for (let turn = -1; turn < ROUNDS; turn++) {
    progress(`workerd, round ${turn + 1} of ${ROUNDS}`);
    // The order turns around from round to round: what else the machine does changes slower than that.
    const order = Object.entries(paths);
    const measured: Record<string, Awaited<ReturnType<typeof round>>> = {};
    for (const [path, checks] of turn % 2 === 0 ? order : order.toReversed()) {
      measured[path] = await round(`/${path}`, checks);
    }
    const { counter } = measured;
    if (turn < 0 || counter === undefined) continue;
    for (const [path, row] of Object.entries(measured)) {
      // Each beside the counter of its own round: the columns' medians come from different moments of the machine.
      const columns = { ...row, beside: row.rate / counter.rate, cpuBeside: counter.cpu / row.cpu };
      values[path] ??= {};
      for (const [column, value] of Object.entries(columns)) {
        values[path][column] ??= [];
        values[path][column].push(value);
      }
    }
  }
  keep("workerd", values);
  for (const [path, { beside = [], cpuBeside = [] }] of Object.entries(values)) {
    const [rate, cpu] = [beside, cpuBeside].map((ratios) => ratios.toSorted((a, b) => a - b)[ratios.length >> 1]);
    console.log(`${path}: ${rate?.toFixed(2)} of the counter of the same round, ${cpu?.toFixed(2)} by its CPU`);
  }
} finally {
  await workerd.kill();
  rmSync(folder, { recursive: true, force: true });
}
