// Many decisions in one call, beside a call for each.

import { collectYoung, cpuSoFar, nanoseconds } from "../clock.ts";
import { freshKeys, walk } from "../keys.ts";
import { allows } from "../subject.ts";
import type { Turn } from "../turns.ts";

export interface Settings {
  readonly batch: boolean;
  readonly keys: number;
  readonly checks: number;
}

/** What was answered last, where the compiler can't see that nobody looks. */
export let answered: unknown;

export async function prepare({ batch, keys, checks }: Settings): Promise<() => Promise<Turn>> {
  const { Engine } = await import("tidegate");
  const engine = new Engine();
  const { period, burst } = allows(keys);
  engine.gcraLimitMany(freshKeys(Array.from({ length: keys }, (_, user) => user)), period, burst);
  const step = walk(keys);
  return async () => {
    const fresh = freshKeys(Array.from({ length: checks }, step));
    if (!batch) return { ns: await nanoseconds((key) => engine.gcraLimit(key, period, burst), fresh, false) };
    collectYoung();
    const before = cpuSoFar();
    answered = engine.gcraLimitMany(fresh, period, burst);
    return { ns: (cpuSoFar() - before) / checks };
  };
}
