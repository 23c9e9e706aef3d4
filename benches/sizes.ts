// What the package's modules weigh, and a bundle of each entry, all in. Results go to benches/results.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { keep, progress } from "./results.ts";
import { fileFor } from "./start/entry.ts";

const values: Record<string, { raw: number[]; gzip: number[] }> = {};

function weigh(name: string, files: readonly Uint8Array[]): void {
  const raw = files.reduce((sum, bytes) => sum + bytes.length, 0);
  const gzip = files.reduce((sum, bytes) => sum + gzipSync(bytes, { level: 9 }).length, 0);
  values[name] = { raw: [raw], gzip: [gzip] };
}

progress("sizes");
for (const module of ["tidegate", "store"]) {
  weigh(`${module}_bg.wasm`, [readFileSync(fileURLToPath(new URL(`../pkg/wasm/${module}_bg.wasm`, import.meta.url)))]);
}
const entries = [
  ["tidegate, in a browser", ".", "browser"],
  ["tidegate, on workerd", ".", "workerd"],
  ["tidegate, on Deno or Bun", ".", "deno"],
  ["tidegate/web", "./web", "browser"],
  ["tidegate/client", "./client", "browser"],
  ["tidegate/workers", "./workers", "workerd"],
] as const;
for (const [name, entry, condition] of entries) {
  const { outputFiles } = await build({
    entryPoints: [fileFor(entry, condition)],
    bundle: true,
    minify: true,
    format: "esm",
    write: false,
    outdir: "out",
    platform: condition === "deno" ? "node" : "neutral",
    conditions: [condition],
    external: ["cloudflare:workers"],
    loader: { ".wasm": "copy" },
  });
  weigh(
    name,
    outputFiles.map(({ contents }) => contents),
  );
}
// It fetches its module, which no bundler sees.
const web = values["tidegate/web"];
const module = values["tidegate_bg.wasm"];
if (web !== undefined && module !== undefined) {
  values["tidegate/web"] = {
    raw: [(web.raw[0] ?? 0) + (module.raw[0] ?? 0)],
    gzip: [(web.gzip[0] ?? 0) + (module.gzip[0] ?? 0)],
  };
}
const worker = fileURLToPath(new URL("../build/worker/", import.meta.url));
const files = readdirSync(worker, { recursive: true, encoding: "utf8" }).filter((file) => /\.(js|wasm)$/.test(file));
weigh(
  "the deployable Worker",
  files.map((file) => readFileSync(join(worker, file))),
);
keep("sizes", values);
