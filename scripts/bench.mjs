// npm run bench: sets up what the benchmarks need, runs them, and puts the results into docs/performance.md.
// `npm run bench -- server start` runs only those, `-- --all` the longer ones too.

import { run, typescriptNode } from "./run.mjs";
import {
  ensureBrowser,
  ensureInstructionCounter,
  ensurePackage,
  ensurePeers,
  ensureRedis,
  ensureRuntimes,
  ensureWorker,
} from "./setup.mjs";
import { bold, dim, fail, seconds } from "./terminal.mjs";

/** Each benchmark: what it measures, what must be there first, its file, and whether only `--all` or its name runs it. */
const benches = {
  sizes: { what: "modules and bundles", needs: ensureWorker, file: "sizes.ts" },
  js: { what: "checks and jobs in JavaScript", needs: ensurePeers, file: "js/run.ts" },
  native: { what: "the core, beside governor and ratelimit", needs: ensureInstructionCounter, file: "native/run.ts" },
  server: { what: "tidegate serve, beside Redis", needs: ensureRedis, file: "server/run.ts", long: true },
  workerd: { what: "Durable Objects", needs: ensurePackage, file: "workerd/run.ts", long: true },
  start: { what: "the first decision in every runtime", needs: ensureRuntimes, file: "start/run.ts", long: true },
  complexity: {
    what: "instructions against all that grows",
    needs: ensureInstructionCounter,
    file: "complexity/run.ts",
    long: true,
  },
  instructions: {
    what: "instructions a decision, to be kept",
    needs: ensureInstructionCounter,
    file: "native/instructions/guard.ts",
    args: ["--update"],
    named: true,
  },
  browser: { what: "the playground", needs: ensureBrowser, file: "../tests/browser/speed/speed.test.ts", named: true },
};

const [flags, names] = [true, false].map((flag) =>
  process.argv.slice(2).filter((word) => word.startsWith("--") === flag),
);
const unknown = [...names.filter((name) => !Object.hasOwn(benches, name)), ...flags.filter((flag) => flag !== "--all")];
if (unknown.length > 0)
  fail(`no benchmark ${unknown.join(", ")}; there are: ${Object.keys(benches).join(", ")}; or --all`);

const usual = Object.keys(benches).filter((name) => !benches[name].named && (flags.length > 0 || !benches[name].long));
const chosen = names.length > 0 ? names : usual;
// All of it first, so that nothing is built beside what is measured.
for (const name of chosen) await benches[name].needs();
await ensurePackage();
for (const name of chosen) {
  const { what, file, args = [] } = benches[name];
  console.error(`${bold(name)} ${dim(what)}`);
  const started = performance.now();
  if ((await run(typescriptNode(), [`benches/${file}`, ...args])) !== 0) fail(`${name} failed`);
  console.error(dim(`  took ${seconds(performance.now() - started)}`));
}
if ((await run(typescriptNode(), ["benches/report/run.ts"])) !== 0) fail("the report could not be made");
console.error("The report is in docs/performance.md.");
