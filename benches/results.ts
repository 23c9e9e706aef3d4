// What a benchmark measured, kept in benches/results, one file each, so that the report is made from the latest of all.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { arch, cpus, release, type } from "node:os";
import { fileURLToPath } from "node:url";

/** Every round's value, by what was measured and in which column. */
export type Values = Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>;

export interface Results {
  readonly machine: string;
  readonly date: string;
  /** SHA-256 of the WebAssembly module that ran, where one did. */
  readonly module?: string;
  readonly values: Values;
}

/** The machine, as the report names it. */
export function machine(): string {
  const cores = cpus();
  const cpu = cores[0]?.model.trim() ?? "unknown processor";
  return `${cores.length} cores of ${cpu}, ${type()} ${release()} ${arch()}, Node ${process.versions.node}`;
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(`results/${name}.json`, import.meta.url));
}

/** Keeps what was measured, to four digits: noise has none. */
export function keep(name: string, values: Values, module?: string): void {
  const date = new Date().toISOString().slice(0, 10);
  const results: Results = { machine: machine(), date, ...(module !== undefined && { module }), values };
  const text = JSON.stringify(
    results,
    (_, value) => (typeof value === "number" && !Number.isInteger(value) ? +value.toPrecision(4) : value),
    1,
  ).replaceAll(/\[[^[\]{}"]*\]/g, (row) => row.replaceAll(/\s+/g, " "));
  mkdirSync(new URL("results/", import.meta.url), { recursive: true });
  writeFileSync(fileOf(name), `${text}\n`);
}

/** What was measured last; `undefined` when it never was. */
export function latest(name: string): Results | undefined {
  const file = fileOf(name);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Results) : undefined;
}

/** The middle value. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[half] ?? Number.NaN) : ((sorted[half - 1] ?? 0) + (sorted[half] ?? 0)) / 2;
}

/** Says how far it is; standard output is for results. */
export function progress(text: string): void {
  console.error(`  ${text}`);
}
