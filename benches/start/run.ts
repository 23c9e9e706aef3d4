// Milliseconds to the first decision in each runtime, beside the same runtime that decides nothing. Results go to
// benches/results.

import { rmSync } from "node:fs";
import { temporaryFolder } from "../../tests/workerd/workerd.ts";
import { keep, progress } from "../results.ts";
import { chromiumStarts } from "./chromium.ts";
import { processStarts } from "./processes.ts";
import { workerdStarts } from "./workerd.ts";

const ROUNDS = 11;

const folder = temporaryFolder();
const chromium = await chromiumStarts();
const values: Record<string, Record<string, number[]>> = {};
try {
  const starts = [...processStarts(folder), ...(await workerdStarts(folder)), ...chromium.starts];
  for (let round = -1; round < ROUNDS; round++) {
    progress(`start, round ${round + 1} of ${ROUNDS}`);
    for (const [name, bare, start] of starts) {
      const took = await start();
      if (round < 0) continue;
      values[name] ??= { bare: [], first: [] };
      values[name][bare ? "bare" : "first"]?.push(took);
    }
  }
  keep("start", values);
} finally {
  await chromium.close();
  rmSync(folder, { recursive: true, force: true });
}
