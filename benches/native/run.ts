// The core beside governor and ratelimit: time, by the bench `decisions`, and instructions, by callgrind.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { keep, progress, type Values } from "../results.ts";
import { built, each } from "./instructions/callgrind.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const DECISIONS = 100_000;

progress("native: time");
const out = execFileSync("cargo", ["bench", "--quiet", "--package", "tidegate-benches", "--", "--json"], {
  cwd: root,
  encoding: "utf8",
  stdio: ["ignore", "pipe", "inherit"],
});
const values: Record<string, Record<string, readonly number[]>> = { ...(JSON.parse(out) as Values) };

progress("native: instructions");
const [ours, theirs] = [built("instructions"), built("governor")];
for (const keys of [1, 2000]) {
  const us = (count: number) => [String(count), "gcra", `keys=${keys}`];
  const them = (count: number) => [String(count), String(keys)];
  const instructions = [
    await each(ours, { less: us(0), more: us(DECISIONS), decisions: DECISIONS }),
    await each(theirs, { less: them(0), more: them(DECISIONS), decisions: DECISIONS }),
  ];
  for (const [at, name] of ["tidegate", "governor"].entries()) {
    values[`${name}, instructions, ${keys} keys`] = { instructions: [instructions[at] ?? Number.NaN] };
  }
}
keep("native", values);
