// What was counted against what is kept.

/** A count may rise by this much: below it is what a compiler does on its own. */
const TOLERANCE = 0.03;

export interface Compared {
  /** Reasons to fail, each with both figures. */
  readonly faults: readonly string[];
  /** What became cheaper by more than the tolerance, and is not kept yet. */
  readonly fell: readonly string[];
}

/** Compares counts by name. */
export function compare(kept: Readonly<Record<string, number>>, counted: Readonly<Record<string, number>>): Compared {
  const faults: string[] = [];
  const fell: string[] = [];
  for (const [name, now] of Object.entries(counted)) {
    const before = kept[name];
    if (before === undefined) {
      faults.push(`${name}: ${now} instructions, and no figure is kept to compare with`);
      continue;
    }
    const rise = now - before;
    const told = `${name}: ${before} instructions are kept, ${now} counted (${rise > 0 ? "+" : ""}${((rise * 100) / before).toFixed(1)} %)`;
    if (rise > before * TOLERANCE) faults.push(told);
    if (rise < -before * TOLERANCE) fell.push(told);
  }
  for (const name of Object.keys(kept)) {
    if (counted[name] === undefined) faults.push(`${name}: a figure is kept, and nothing counts it`);
  }
  return { faults, fell };
}
