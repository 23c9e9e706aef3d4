// npm test: sets everything up, runs every part, and sums up. `npm test -- style types` runs only those parts.

import { javascriptReference, rustReference } from "./docs.mjs";
import { run, typescriptNode } from "./run.mjs";
import {
  EMBEDDED_TARGET,
  ensureBrowser,
  ensureEmbeddedTarget,
  ensureInstalled,
  ensureInstructionCounter,
  ensurePackage,
  ensurePlayground,
  ensureRedisClients,
  ensureWorker,
} from "./setup.mjs";
import { bold, dim, fail, green, red, seconds } from "./terminal.mjs";

const WASM = (features) => ["--target", "wasm32-unknown-unknown", "--features", features, "--lib"];

/** Each part: what it proves, what must be there first, and the commands or functions that prove it. */
const parts = {
  style: {
    what: "biome: formatting and lints of the JavaScript and TypeScript",
    needs: ensureInstalled,
    commands: () => [["biome", "check", "."]],
  },
  types: {
    what: "tsc: the package, its tests, and what its types promise",
    needs: ensurePackage,
    commands: () => [["tsc", "--noEmit", "--project", "tests"]],
  },
  format: {
    what: "rustfmt",
    commands: () => [["cargo", "fmt", "--all", "--check"]],
  },
  lint: {
    what: "clippy, warnings denied: native, and the wasm surface",
    commands: () => [
      ["cargo", "clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"],
      ["cargo", "clippy", "--quiet", ...WASM("bindings"), "--", "-D", "warnings"],
      ["cargo", "clippy", "--quiet", ...WASM("store"), "--", "-D", "warnings"],
      ["cargo", "clippy", "--quiet", ...WASM("worker"), "--", "-D", "warnings"],
    ],
  },
  rust: {
    what: "cargo test: the core, its vectors, its documentation; builds without std, and from what is published",
    needs: ensureEmbeddedTarget,
    commands: () => [
      ["cargo", "test", "--workspace"],
      // No std is to be had there, so that whatever needs it fails.
      ["cargo", "build", "--quiet", "--package", "tidegate-embedded", "--target", EMBEDDED_TARGET],
      ["cargo", "package", "--quiet", "--allow-dirty"],
    ],
  },
  instructions: {
    what: "callgrind: no decision takes over 3 % more instructions than is kept",
    needs: ensureInstructionCounter,
    commands: () => [[typescriptNode(), "benches/native/instructions/guard.ts"]],
  },
  docs: {
    what: "the reference: every export is documented, every link leads somewhere, the crate promises what it did",
    commands: () => [javascriptReference, () => rustReference()],
  },
  node: {
    what: "node --test: the package on Node",
    needs: ensurePackage,
    commands: () => [[typescriptNode(), "--test", "tests/{node,valve,http,docs,benches}/**/*.test.ts"]],
  },
  matrix: {
    what: "the packed package, installed and used: Node 20 where it runs this, and 24; `npm run matrix` has them all",
    needs: async () => {
      await ensurePackage();
      await ensureWorker();
    },
    commands: () => [[typescriptNode(), "tests/matrix/run.ts", "--quick"]],
  },
  workerd: {
    what: "node --test: Durable Objects and the Worker in workerd",
    needs: async () => {
      await ensurePackage();
      await ensureWorker();
      await ensurePlayground();
    },
    commands: () => [[typescriptNode(), "--test", "tests/workerd/**/*.test.ts"]],
  },
  resp: {
    what: "node --test: the server, with the clients of Redis",
    needs: ensureRedisClients,
    commands: () => [[typescriptNode(), "--test", "tests/{resp,cli}/**/*.test.ts"]],
  },
  browser: {
    what: "node --test: the playground in Chromium",
    needs: async () => {
      await ensureBrowser();
      await ensureWorker();
    },
    commands: () => [
      ["tsc", "--noEmit", "--project", "www"],
      [typescriptNode(), "--test", "--test-concurrency=1", "--test-timeout=240000", "tests/browser/*.test.ts"],
    ],
  },
};

// The matrix takes along the Node that this is.
if (process.versions.node.startsWith("20.")) process.env.TIDEGATE_NODE_20 = process.execPath;

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) fail(`no test part ${unknown.join(", ")}; there are: ${Object.keys(parts).join(", ")}`);

const results = [];
for (const name of chosen.length > 0 ? chosen : Object.keys(parts)) {
  const { what, needs, commands } = parts[name];
  await needs?.();
  console.log(`\n${bold(name)} ${dim(what)}`);
  const started = performance.now();
  let passed = true;
  for (const command of commands()) {
    const status = typeof command === "function" ? await command() : await run(command[0], command.slice(1));
    passed = status === 0 && passed;
  }
  results.push({ name, passed, took: performance.now() - started });
}

console.log(`\n${bold("Summary")}`);
for (const { name, passed, took } of results) {
  console.log(`${passed ? green("✓") : red("✗")} ${name.padEnd(12)} ${dim(seconds(took))}`);
}
const failed = results.filter(({ passed }) => !passed).length;
console.log(`${results.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
