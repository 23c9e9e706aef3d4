// The lines as they were counted last.

import { latest, median } from "../results.ts";

export interface Counts {
  readonly against: string;
  readonly name: string;
  /** What it grows with, and the cost of a decision there. */
  readonly points: readonly (readonly [x: number, cost: number])[];
}

export function counts(): readonly Counts[] {
  return Object.entries(latest("complexity")?.values ?? {}).map(([title, row]) => {
    const [against = "", name = ""] = title.split(": ");
    const points = Object.entries(row).map(([x, costs]) => [Number(x), median(costs)] as const);
    return { against, name, points: points.toSorted(([a], [b]) => a - b) };
  });
}

/** 1,000 as 1 k, 1,000,000 as 1 M; a window as people say it. */
export function short(against: string, value: number): string {
  const units = against.startsWith("window") ? TIMES : THOUSANDS;
  const [size, unit] = units.find(([size]) => value >= size) ?? [1, ""];
  return `${+(value / size).toPrecision(3)} ${unit}`.trim();
}

const THOUSANDS: readonly [number, string][] = [
  [1e6, "M"],
  [1000, "k"],
];
const TIMES: readonly [number, string][] = [
  [31_536_000_000, "y"],
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1000, "s"],
  [1, "ms"],
];
