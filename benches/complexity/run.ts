// Counts every point of every line by callgrind, and measures what instructions don't show. Results go to benches/results.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { built, each } from "../native/instructions/callgrind.ts";
import { keep, progress, type Values } from "../results.ts";
import { lines } from "./lines.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const program = built("instructions");
const values: Record<string, Record<string, number[]>> = {};
for (const { against, name, points } of lines) {
  progress(`${name} against ${against}`);
  const row: Record<string, number[]> = {};
  for (const [x, counted] of points) row[x] = [await each(program, counted)];
  values[`${against}: ${name}`] = row;
}

progress("nanoseconds against keys");
const args = ["bench", "--quiet", "--package", "tidegate-benches", "--", "--by-keys"];
const bySize = JSON.parse(
  execFileSync("cargo", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }),
) as Values;
values["keys, in ns: GCRA"] = Object.fromEntries(
  Object.entries(bySize).map(([size, row]) => [size, [...(row["ns"] ?? [])]]),
);
keep("complexity", values);
