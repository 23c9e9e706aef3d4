// Puts what was measured last into docs/performance.md, between the marks there, and prints the targets.

import { readFileSync, writeFileSync } from "node:fs";
import { plot } from "../complexity/plot.ts";
import { blocks } from "./blocks.ts";
import { fill } from "./fill.ts";

const file = new URL("../../docs/performance.md", import.meta.url);
writeFileSync(file, fill(readFileSync(file, "utf8"), blocks));
writeFileSync(new URL("../../docs/complexity.svg", import.meta.url), plot());
console.log(blocks["targets"]?.());
