// npm run matrix [-- NAME...]: the packed package, installed in a fresh folder and used on every runtime, each subpath of its
// exports in turn. NAMEs choose the runtimes whose names hold one of them. `--quick` is Node alone.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { browsers } from "./browsers.ts";
import { stopAll } from "./children.ts";
import { COMMAND, install, subpaths, version } from "./install.ts";
import { bun, deno, node20, node22, node24 } from "./processes.ts";
import type { Row, Runtime } from "./runtime.ts";
import { type Services, startServices } from "./services.ts";
import { serveFolder } from "./site.ts";
import { typescript } from "./types.ts";
import { workerd } from "./workers.ts";

const chosen = process.argv.slice(2).filter((word) => word !== "--quick");
const quick = process.argv.includes("--quick");
const temporary = mkdtempSync(join(tmpdir(), "tidegate-matrix-"));

let services: Services | undefined;

function clean(): void {
  void services?.close();
  stopAll();
  rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
}
for (const [signal, status] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const) {
  process.on(signal, () => {
    clean();
    process.exit(status);
  });
}

const line = (text: string) => console.error(text);
const rows: { runtime: string; subpath: string; cases: string; passed: string }[] = [];
let failed = 0;

/** Uses every subpath on one runtime, and takes the results down. */
async function useAll(runtime: Runtime, folder: string, services: Services): Promise<void> {
  const started = performance.now();
  const opened = await runtime.open(folder, { version, worker: services.worker, server: services.server });
  const left = [...subpaths, COMMAND].map((subpath) => {
    const row = { runtime: runtime.name, subpath, cases: "–", passed: runtime.without[subpath] ?? "" };
    rows.push(row);
    return row;
  });
  const useOnes = async () => {
    for (let row = left.shift(); row !== undefined; row = left.shift()) {
      if (row.passed !== "") continue;
      const { cases, passed, faults } = await opened.use(row.subpath).catch(notRun);
      Object.assign(row, { cases: String(cases), passed: String(passed) });
      if (passed === cases && faults.length === 0) continue;
      failed++;
      line(
        `✗ ${runtime.name}, ${row.subpath}: ${cases - passed} of ${cases} failed\n  ${faults.slice(0, 5).join("\n  ")}`,
      );
    }
  };
  try {
    await Promise.all(Array.from({ length: runtime.atOnce ?? 1 }, useOnes));
  } finally {
    await opened.close?.();
  }
  line(`  ${runtime.name}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

function notRun(error: unknown): Row {
  return { cases: 1, passed: 0, faults: [String(error)] };
}

try {
  const site = join(temporary, "site");
  mkdirSync(site);
  const { origin, close } = await serveFolder(site);
  line("› packing and installing");
  const folder = await install(temporary);
  services = await startServices(temporary, folder, origin);
  const nodes = [...node20(), ...node22(), ...node24()];
  const all = quick
    ? nodes
    : [...nodes, deno(), bun(), workerd(), ...browsers({ folder: site, origin }), ...typescript()];
  for (const runtime of all) {
    if (chosen.length > 0 && !chosen.some((word) => runtime.name.toLowerCase().includes(word.toLowerCase()))) continue;
    line(`› ${runtime.name}`);
    await useAll(runtime, folder, services).catch((error: unknown) => {
      failed++;
      rows.push({ runtime: runtime.name, subpath: "(all)", cases: "1", passed: "0" });
      line(`✗ ${runtime.name}: ${error instanceof Error ? error.stack : error}`);
    });
  }
  close();
  const heading = { runtime: "runtime", subpath: "subpath", cases: "cases", passed: "passed" };
  const width = (column: "runtime" | "subpath") => Math.max(...[heading, ...rows].map((row) => row[column].length));
  for (const { runtime, subpath, cases, passed } of [heading, ...rows]) {
    console.log(
      `${runtime.padEnd(width("runtime"))}  ${subpath.padEnd(width("subpath"))}  ${cases.padStart(5)}  ${passed.padStart(6)}`,
    );
  }
  const sum = (column: "cases" | "passed") => rows.reduce((total, row) => total + (Number(row[column]) || 0), 0);
  console.log(`${sum("passed")} of ${sum("cases")} cases passed`);
} catch (error) {
  failed++;
  line(`✗ ${error instanceof Error ? error.stack : error}`);
} finally {
  clean();
}
process.exit(failed === 0 ? 0 : 1);
