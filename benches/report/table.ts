// Tables in Markdown, and numbers in them.

import { median } from "../results.ts";

/** A number to three digits, with commas; what is below that is noise. */
export function shown(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString("en-US", { maximumFractionDigits: 20 });
}

/** The median of some rounds, and the least and the most of them. */
export function spread(values: readonly number[] | undefined): string {
  if (values === undefined || values.length === 0) return "";
  if (values.length === 1) return shown(values[0] ?? Number.NaN);
  return `${shown(median(values))} (${shown(Math.min(...values))} to ${shown(Math.max(...values))})`;
}

export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(heads), `|${"---|".repeat(heads.length)}`, ...rows.map(line)].join("\n");
}
