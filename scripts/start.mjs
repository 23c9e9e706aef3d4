// npm start: sets everything up, shows real decisions, then serves the Worker on this machine.

import { parseArgs } from "node:util";
import { ensurePackage, ensurePlayground, ensureWorker } from "./setup.mjs";
import { fail } from "./terminal.mjs";

const HELP = `npm start              the reference documents' examples, decided by a fresh engine; then the Worker, with the
                       playground, on http://127.0.0.1:8787 until Ctrl-C; its budgets are kept in .tidegate/
npm start -- --once    the examples only
npm start -- --prompt  the examples, then a prompt on the same engine, where Ctrl-D ends
… | npm start -- --prompt    commands from a pipe, one a line

At the prompt type a command, such as

  GCRA.LIMIT api:user:42 60000 10
  RATELIMIT.CREATE uploads 20 4000 ALGO token_bucket REFILL 5
  RATELIMIT.CHECK uploads user:42 COST 5

and see the reply as HotKV's documents print it.
`;

const options = { once: { type: "boolean" }, prompt: { type: "boolean" }, help: { type: "boolean", short: "h" } };
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
  if (given.prompt && !process.stdin.isTTY) {
    await answerPipe();
  } else {
    showExamples();
    if (given.prompt) await openPrompt();
  }
  if (!given.once && !given.prompt) {
    await ensurePlayground();
    await ensureWorker();
    const { serve } = await import("./serve.mjs");
    await serve();
  }
}
