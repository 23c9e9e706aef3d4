// The lines as a table.

import { table } from "../report/table.ts";
import { counts, short } from "./points.ts";

/** A row for each line: the cost of a decision at each point. */
export function cost(): string {
  const rows = counts().map(({ against, name, points }) => [
    name,
    against,
    points.map(([x, cost]) => `${short(against, x)}: ${Math.round(cost).toLocaleString("en-US")}`).join(", "),
  ]);
  return table(["a decision of", "against", "instructions, or ns"], rows);
}
