// A prompt on an engine in this process: a command a line, its reply as HotKV's documents print it.

import { createInterface } from "node:readline/promises";
import { Engine } from "tidegate";
import { bold, cyan, dim, red } from "./terminal.mjs";

const PROMPT = "tidegate> ";
/** While the examples are shown, no time passes: they are the documents' own, to the millisecond. */
let stopped;
const engine = new Engine({ clock: () => stopped ?? Date.now() });

/** The documents' own examples, decided by the engine just started. */
export function showExamples() {
  stopped = Date.now();
  console.log(`${bold("Tidegate")}: exact rate limiting. These replies were decided just now, in this process.\n`);
  example("Ten requests a minute, spread evenly. The first:", "GCRA.LIMIT api:user:42 60000 10");
  for (let call = 2; call <= 10; call++) answer("GCRA.LIMIT api:user:42 60000 10");
  example(
    "After ten quick calls, the eleventh is refused; it says how long to wait:",
    "GCRA.LIMIT api:user:42 60000 10",
  );
  example("A named limiter: at most 100 units in any minute.", "RATELIMIT.CREATE api 100 60000");
  example("", "RATELIMIT.CHECK api user:42");
  example("", "RATELIMIT.CHECK api user:42 COST 5");
  example("", "RATELIMIT.STATS api");
  example(
    "A bucket of 20 tokens, refilled at 5 a second.",
    "RATELIMIT.CREATE uploads 20 4000 ALGO token_bucket REFILL 5",
  );
  stopped = undefined;
}

function example(title, line) {
  if (title) console.log(dim(`# ${title}`));
  console.log(`${cyan(PROMPT)}${line}\n${answer(line)}\n`);
}

/** Commands typed by a person, until Ctrl-D. */
export async function openPrompt() {
  console.log(dim("Your turn: the same engine answers. Ctrl-D ends.\n"));
  const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: PROMPT });
  lines.prompt();
  for await (const line of lines) {
    if (line.trim() !== "") console.log(answer(line));
    if (/^\s*(quit|exit)\s*$/i.test(line)) break;
    lines.prompt();
  }
  lines.close();
}

/** Commands from a pipe, one a line. */
export async function answerPipe() {
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() !== "") console.log(answer(line));
  }
}

/** The printed reply to a typed command. */
function answer(line) {
  const words = split(line);
  if (words === undefined) return red("(error) a quote is not closed");
  const command = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("");
  const reply = engine.execute(Buffer.from(`*${words.length}\r\n${command}`));
  const { text } = printed(Buffer.from(reply).toString("latin1"), 0, "");
  return text.startsWith("(error)") ? red(text) : text;
}

/** The words of a line; text in quotes is one word. `undefined` when a quote is not closed. */
function split(line) {
  const words = [];
  const word = /\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s"']+))/y;
  const end = line.trimEnd().length;
  while (word.lastIndex < end) {
    const match = word.exec(line);
    if (match === null) return undefined;
    words.push(match[1]?.replace(/\\(.)/g, "$1") ?? match[2] ?? match[3]);
  }
  return words;
}

/** The RESP reply at `at`, one character a byte, as printed text, and where it ends. Nested replies are indented by `margin`. */
function printed(resp, at, margin) {
  const lineEnd = resp.indexOf("\r\n", at);
  const line = resp.slice(at + 1, lineEnd);
  let next = lineEnd + 2;
  switch (resp[at]) {
    case "+":
      return { text: line, next };
    case "-":
      return { text: `(error) ${line}`, next };
    case ":":
      return { text: `(integer) ${line}`, next };
    case "$": {
      if (line === "-1") return { text: "(nil)", next };
      const end = next + Number(line);
      return { text: JSON.stringify(Buffer.from(resp.slice(next, end), "latin1").toString()), next: end + 2 };
    }
    case "*": {
      const count = Number(line);
      if (count <= 0) return { text: count < 0 ? "(nil)" : "(empty array)", next };
      const width = String(count).length;
      const items = [];
      for (let index = 1; index <= count; index++) {
        const item = printed(resp, next, `${margin}${" ".repeat(width + 2)}`);
        items.push(`${String(index).padStart(width)}) ${item.text}`);
        next = item.next;
      }
      return { text: items.join(`\n${margin}`), next };
    }
    default:
      return { text: resp.slice(at), next: resp.length };
  }
}
