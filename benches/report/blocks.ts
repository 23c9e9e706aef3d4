// The blocks of docs/performance.md that are made from results.

import { readFileSync } from "node:fs";
import { cost } from "../complexity/table.ts";
import { latest, median, type Values } from "../results.ts";
import { type Judged, judge, targets } from "../targets.ts";
import { shown, spread, table } from "./table.ts";

function valuesOf(file: string): Values {
  return latest(file)?.values ?? {};
}

/** A row for everything in the file, a column for each of those named. */
function medians(file: string, first: string, columns: Readonly<Record<string, string>>): string {
  const rows = Object.entries(valuesOf(file)).map(([name, row]) => [
    name,
    ...Object.keys(columns).map((column) => spread(row[column])),
  ]);
  return table([first, ...Object.values(columns)], rows);
}

function verdict({
  target: { what, target, aim, unit, theirs: beside },
  ours,
  theirs,
  reached,
  met,
}: Judged): string[] {
  const bound = `${aim === "most" ? "at most" : "at least"} ${shown(target)}${beside === undefined ? ` ${unit}` : ""}`;
  const with_ = (value: number) => `${shown(value)}${unit === "" ? "" : ` ${unit}`}`;
  return [
    what,
    with_(ours),
    theirs === undefined ? "" : with_(theirs),
    beside === undefined ? "" : reached.toFixed(2),
    bound,
    met ? "met" : "**not met**",
  ];
}

/** How many of the targets are met, and each of them. */
function judged(): string {
  const all = targets.map((target) => [target, judge(target)] as const);
  const met = all.filter(([, result]) => result?.met).length;
  const rows = all.map(([{ what }, result]) => (result ? verdict(result) : [what, "", "", "", "", "not measured"]));
  return `${met} of ${all.length} are met.\n\n${table(["", "ours", "theirs", "ratio", "target", ""], rows)}`;
}

const FILES = [
  "checks",
  "refusals",
  "inserting",
  "leaving",
  "batch",
  "jobs",
  "queue",
  "native",
  "server",
  "workerd",
  "start",
  "sizes",
];

/** Where and when each file was measured. */
function measured(): string {
  const byPlace = new Map<string, string[]>();
  for (const file of FILES) {
    const results = latest(file);
    if (results === undefined) continue;
    const module = results.module === undefined ? "" : `, module ${results.module.slice(0, 12)}`;
    const place = `${results.date}: ${results.machine}${module}`;
    byPlace.set(place, [...(byPlace.get(place) ?? []), file]);
  }
  return [...byPlace].map(([place, files]) => `- ${place}: ${files.join(", ")}`).join("\n");
}

const { counts } = JSON.parse(readFileSync(new URL("../native/instructions.json", import.meta.url), "utf8")) as {
  counts: Readonly<Record<string, number>>;
};

function start(): string {
  const rows = Object.entries(valuesOf("start")).map(([name, { bare = [], first = [] }]) => [
    name,
    spread(bare),
    spread(first),
    shown(median(first) - median(bare)),
  ]);
  return table(["ms", "the runtime alone", "first decision", "difference"], rows);
}

function sizes(): string {
  const kilobytes = (values: readonly number[] = []) => `${shown((values[0] ?? Number.NaN) / 1024)} KB`;
  const rows = Object.entries(valuesOf("sizes")).map(([name, { raw, gzip }]) => [
    name,
    kilobytes(raw),
    kilobytes(gzip),
  ]);
  return table(["", "raw", "gzip"], rows);
}

/** Each block by the name that its marks in the document have. */
export const blocks: Readonly<Record<string, () => string>> = {
  targets: judged,
  measured,
  checks: () =>
    medians("checks", "ns a check", {
      "1 fresh": "one key",
      "10000 fresh": "10,000 keys",
      "1000000 fresh": "1,000,000 keys",
      "1 again": "one key, the same text",
      "10000 again": "10,000 keys, the same texts",
    }),
  refusals: () => medians("refusals", "ns a check", { "1 fresh": "one key", "10000 fresh": "10,000 keys" }),
  inserting: () =>
    medians("inserting", "1,000,000 new keys", {
      ns: "ns each",
      bytes: "bytes a key",
      longest: "longest pause, ms",
      over1ms: "pauses over 1 ms",
      over10ms: "over 10 ms",
    }),
  leaving: () =>
    medians("leaving", "longest pause, ms", {
      arriving: "1,000,000 arrive",
      leaving: "they leave, 1,000,000 others arrive",
      over1ms: "pauses over 1 ms then",
      over10ms: "over 10 ms",
      growth: "memory after, of before",
    }),
  batch: () =>
    medians("batch", "ns a decision", { "1 ns": "one key", "10000 ns": "10,000 keys", "1000000 ns": "1,000,000 keys" }),
  jobs: () => medians("jobs", "CPU µs a job", { paced: "1,000 each 250 ms", atOnce: "all at once" }),
  queue: () => medians("queue", "jobs a second of CPU", { perSecond: "100,000 queued, in ten intervals" }),
  native: () => {
    const times = Object.fromEntries(Object.entries(valuesOf("native")).filter(([, row]) => row["ns"] !== undefined));
    return table(
      ["", "ns a decision"],
      Object.entries(times).map(([name, row]) => [name, spread(row["ns"])]),
    );
  },
  instructions: () =>
    table(
      ["one decision", "instructions"],
      Object.entries(counts).map(([name, count]) => [name, Math.round(count).toLocaleString("en-US")]),
    ),
  complexity: cost,
  server: () =>
    medians("server", "50 connections", {
      "1 rate": "requests a second",
      "1 cpu": "CPU ns each",
      "16 rate": "pipeline 16, requests a second",
      "16 cpu": "pipeline 16, CPU ns each",
    }),
  workerd: () =>
    medians("workerd", "16 connections", {
      rate: "checks a second",
      p99: "p99 of a request, ms",
      cpu: "CPU µs a check",
    }),
  start,
  sizes,
};
