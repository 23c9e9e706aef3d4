// Runtimes that are a process: from its start to the first decision it tells of.

import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BARE, decides, fileFor } from "./entry.ts";

const peers = fileURLToPath(new URL("../peers/node_modules/", import.meta.url));

interface Runtime {
  readonly program: string;
  readonly args: readonly string[];
  readonly condition: string;
}

const runtimes: Readonly<Record<string, Runtime>> = {
  "Node 24": { program: process.execPath, args: [], condition: "node" },
  "Node 20": { program: join(peers, "node-20-linux-x64/bin/node"), args: [], condition: "node" },
  Deno: {
    program: join(peers, "@deno/linux-x64-glibc/deno"),
    args: ["run", "--quiet", "--no-check", "--allow-all"],
    condition: "deno",
  },
  Bun: { program: join(peers, "@oven/bun-linux-x64/bin/bun"), args: ["run"], condition: "bun" },
};

/** Milliseconds from a process's start to its first words, which must be `decided`. */
function untilDecided(program: string, args: readonly string[], folder: string): Promise<number> {
  return new Promise((done, reject) => {
    const started = performance.now();
    const child = spawn(program, args, {
      cwd: folder,
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, NO_COLOR: "1" },
    });
    child.on("error", reject);
    child.stdout.once("data", (bytes: Buffer) => {
      const took = performance.now() - started;
      if (String(bytes).trim() !== "decided") reject(new Error(`${program} said ${bytes}`));
      child.once("exit", () => done(took));
    });
    child.once("exit", (status) => {
      if (status !== 0) reject(new Error(`${program} ended with ${status}`));
    });
  });
}

/** Each start of a process that is measured, by name. */
export function processStarts(folder: string): [name: string, bare: boolean, start: () => Promise<number>][] {
  return Object.entries(runtimes).flatMap(([name, { program, args, condition }]) => {
    if (!existsSync(program)) return [];
    const slug = name.replaceAll(" ", "-").toLowerCase();
    const bare = join(folder, `${slug}-bare.mjs`);
    const first = join(folder, `${slug}-first.mjs`);
    writeFileSync(bare, BARE);
    writeFileSync(first, decides(fileFor(".", condition)));
    return [
      [name, true, () => untilDecided(program, [...args, bare], folder)],
      [name, false, () => untilDecided(program, [...args, first], folder)],
    ] as [string, boolean, () => Promise<number>][];
  });
}
