// npm start: sets everything up, then opens a prompt on an engine in this process.

import { parseArgs } from "node:util";
import { ensurePackage } from "./setup.mjs";
import { fail } from "./terminal.mjs";

const HELP = `npm start            the reference documents' examples, decided by a fresh engine, then a prompt
npm start -- --once  the examples only
… | npm start        commands from a pipe, one a line

At the prompt type a command, such as

  GCRA.LIMIT api:user:42 60000 10
  RATELIMIT.CREATE uploads 20 4000 ALGO token_bucket REFILL 5
  RATELIMIT.CHECK uploads user:42 COST 5

and see the reply as HotKV's documents print it. Ctrl-D ends.
`;

const options = { once: { type: "boolean" }, help: { type: "boolean", short: "h" } };
let given;
try {
  given = parseArgs({ options }).values;
} catch (error) {
  fail(`${error.message}\n\n${HELP}`);
}
if (given.help) {
  process.stdout.write(HELP);
} else {
  await ensurePackage();
  const { showExamples, answerPipe, openPrompt } = await import("./prompt.mjs");
  if (process.stdin.isTTY || given.once) showExamples();
  if (!given.once) await (process.stdin.isTTY ? openPrompt() : answerPipe());
}
