// The server beside Redis with a GCRA script in Lua, and Node's own ceiling: requests a second by redis-benchmark, and the CPU
// that the server spends on each. Rounds take turns; results go to benches/results.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { keep, progress } from "../results.ts";
import { cpuOf } from "./cpu.ts";
import { GCRA } from "./lua.ts";

const ROUNDS = 7;
const CLIENTS = 50;
const LONGEST_MS = 1500;
/** Never refuses while the benchmark runs, and keeps every key alive. */
const RULE = ["2000000000", "10000"];
const main = fileURLToPath(new URL("../../pkg/dist/cli/main.js", import.meta.url));
const fixed = fileURLToPath(new URL("fixed.ts", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "tidegate-bench-"));

interface Server {
  readonly port: number;
  readonly start: (port: number) => ChildProcess;
  readonly ask: (port: number) => string[];
}

const servers: Readonly<Record<string, Server>> = {
  tidegate: { port: 7501, start: (port) => tidegate(port), ask: ours },
  "redis and lua": { port: 7502, start: (port) => redis(port, "--appendonly", "no"), ask: theirs },
  "fixed reply": { port: 7503, start: (port) => node(fixed, String(port)), ask: ours },
  "tidegate, file": { port: 7504, start: (port) => tidegate(port, "--data", join(scratch, "limits.db")), ask: ours },
  "redis and lua, everysec": {
    port: 7505,
    start: (port) => redis(port, "--appendonly", "yes", "--appendfsync", "everysec", "--dir", scratch),
    ask: theirs,
  },
};

function node(...args: string[]): ChildProcess {
  return spawn(process.execPath, args, { stdio: "ignore" });
}

function tidegate(port: number, ...args: string[]): ChildProcess {
  return node(main, "serve", "--port", String(port), ...args);
}

function redis(port: number, ...args: string[]): ChildProcess {
  return spawn("redis-server", ["--port", String(port), "--save", "", ...args], { stdio: "ignore" });
}

function ours(): string[] {
  return ["GCRA.LIMIT", "bench:__rand_int__", ...RULE];
}

function theirs(port: number): string[] {
  const loaded = spawnSync("redis-cli", ["-p", String(port), "SCRIPT", "LOAD", GCRA], { encoding: "utf8" });
  return ["EVALSHA", loaded.stdout.trim(), "1", "bench:__rand_int__", ...RULE, "1"];
}

/** Requests a second of one run. */
function load(port: number, pipeline: number, requests: number, command: readonly string[]): number {
  const options = ["-p", String(port), "-c", String(CLIENTS), "-P", String(pipeline), "-n", String(requests)];
  const run = spawnSync("redis-benchmark", [...options, "-r", "10000", "--csv", ...command], { encoding: "utf8" });
  const line = run.stdout.trim().split("\n").at(-1) ?? "";
  const rate = Number(line.split('","')[1]?.replaceAll('"', ""));
  if (!(rate > 0)) throw new Error(`redis-benchmark on port ${port}: ${run.stdout}${run.stderr}`);
  return rate;
}

async function listening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const open = await new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true));
      socket.on("error", () => resolve(false));
      socket.on("connect", () => socket.destroy());
    });
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nothing listens on ${port}`);
}

const values: Record<string, Record<string, number[]>> = {};
const running = new Map<string, ChildProcess>();
try {
  for (const [name, { port, start }] of Object.entries(servers)) {
    running.set(name, start(port));
    await listening(port);
  }
  const asks = Object.entries(servers).map(([name, { port, ask }]) => ({ name, port, command: ask(port) }));
  for (const pipeline of [1, 16]) {
    progress(`pipeline ${pipeline}`);
    const requests: Record<string, number> = {};
    for (let round = -1; round < ROUNDS; round++) {
      for (const { name, port, command } of asks) {
        // The first, short round finds how many requests a turn is.
        const count = requests[name] ?? 20_000;
        const pid = running.get(name)?.pid ?? 0;
        const before = cpuOf(pid);
        const rate = load(port, pipeline, count, command);
        const cpu = (cpuOf(pid) - before) / count;
        if (round < 0) {
          requests[name] = Math.ceil((rate * LONGEST_MS) / 1000);
          continue;
        }
        values[name] ??= {};
        for (const [what, value] of Object.entries({ rate, cpu })) {
          values[name][`${pipeline} ${what}`] ??= [];
          values[name][`${pipeline} ${what}`]?.push(value);
        }
      }
    }
  }
  keep("server", values);
} finally {
  for (const child of running.values()) child.kill();
  rmSync(scratch, { recursive: true, force: true });
}
