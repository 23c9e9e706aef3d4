// npm run bench:…: sets up what a benchmark needs, and runs it.

import { run, typescriptNode } from "./run.mjs";
import { ensureInstructionCounter } from "./setup.mjs";
import { fail } from "./terminal.mjs";

/** Each benchmark: what must be there first, and the command. */
const benches = {
  instructions: {
    needs: ensureInstructionCounter,
    command: () => [typescriptNode(), "benches/native/instructions/guard.ts", "--update"],
  },
};

const [name = ""] = process.argv.slice(2);
if (!Object.hasOwn(benches, name)) fail(`no benchmark "${name}"; there are: ${Object.keys(benches).join(", ")}`);
await benches[name].needs();
const [program, ...args] = benches[name].command();
process.exitCode = await run(program, args);
