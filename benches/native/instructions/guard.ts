// The guard of the core's speed: `npm test -- instructions` fails when a decision takes over 3 % more instructions than is
// kept in instructions.json. `npm run bench:instructions` counts and keeps what it finds, higher or lower.

import { readFileSync, writeFileSync } from "node:fs";
import { built, compiler, each } from "./callgrind.ts";
import { cases } from "./cases.ts";
import { compare } from "./compare.ts";

interface Kept {
  readonly rustc: string;
  readonly counts: Readonly<Record<string, number>>;
}

const file = new URL("../instructions.json", import.meta.url);
const update = process.argv.includes("--update");

if (process.arch !== "x64" || process.platform !== "linux") {
  console.log(`not counted: the figures kept are for x64 on Linux, this is ${process.arch} on ${process.platform}`);
  process.exit(0);
}

const kept = JSON.parse(readFileSync(file, "utf8")) as Kept;
const rustc = compiler();
const program = built("instructions");
const counts: Record<string, number> = {};
for (const [name, counted] of Object.entries(cases)) {
  counts[name] = await each(program, counted);
  console.log(`${name.padEnd(34)}${counts[name].toFixed(1).padStart(8)}   ${kept.counts[name]?.toFixed(1) ?? ""}`);
}

const { faults, fell } = compare(kept.counts, counts);
if (update) {
  writeFileSync(file, `${JSON.stringify({ rustc, counts }, undefined, 2)}\n`);
  console.log(`kept in benches/native/instructions.json, with rustc ${rustc}`);
} else if (faults.length > 0) {
  console.error(`\n${faults.join("\n")}`);
  if (rustc !== kept.rustc) console.error(`The figures kept are of rustc ${kept.rustc}; this is ${rustc}.`);
  console.error("A decision may take at most 3 % more. Where more is meant: npm run bench:instructions, and say why.");
  process.exitCode = 1;
} else if (fell.length > 0) {
  console.log(`\n${fell.join("\n")}\nKeep what was won, so that it is not lost unseen: npm run bench:instructions`);
}
