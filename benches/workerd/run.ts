// Checks a second through workerd, storage in memory, beside a hand-written counter: `node benches/workerd/run.ts`.

import { rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle, temporaryFolder, Workerd } from "../../tests/workerd/workerd.ts";

const ROUNDS = 7;
const ROUND_MS = 1500;
const CONNECTIONS = 16;

const folder = temporaryFolder();
const workerd = await Workerd.start({
  folder: await bundle(fileURLToPath(new URL("./worker.ts", import.meta.url)), folder),
  storage: join(folder, "storage"),
  classes: { TIDEGATE: "TidegateObject", COUNTER: "Counter" },
});

/** Requests answered a second. */
async function rate(path: string): Promise<number> {
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
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  agent.destroy();
  return (answered * 1000) / (performance.now() - started);
}

const paths = ["/counter", "/check", "/pipeline"];
const rates = new Map<string, number[]>(paths.map((path) => [path, []]));
try {
  for (const path of paths) await rate(path);
  for (let round = 0; round < ROUNDS; round++) for (const path of paths) rates.get(path)?.push(await rate(path));
} finally {
  await workerd.kill();
  rmSync(folder, { recursive: true, force: true });
}

const median = (path: string) => (rates.get(path) ?? []).sort((a, b) => a - b)[ROUNDS >> 1] ?? 0;
const [counter, check, pipeline] = [median("/counter"), median("/check"), median("/pipeline") * 16];
console.log(`hand-written counter  ${counter.toFixed(0).padStart(7)} checks a second`);
console.log(`tidegate, single      ${check.toFixed(0).padStart(7)}   ${(check / counter).toFixed(2)} of it; aim 0.9`);
console.log(
  `tidegate, 16 at once  ${pipeline.toFixed(0).padStart(7)}   ${(pipeline / counter).toFixed(1)} times; aim 5`,
);
