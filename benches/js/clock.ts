// Nanoseconds of CPU that the checking thread spends on a check: what else the machine does counts for nobody.

import type { Check } from "./subject.ts";

/** What was answered last, where the compiler can't see that nobody looks. */
export let answered: unknown;

export async function nanoseconds(check: Check, keys: readonly string[], awaited: boolean): Promise<number> {
  // The keys are old by now, so that no collection in the middle has to move them.
  collectYoung();
  const before = cpuSoFar();
  if (awaited) await each(check, keys);
  else for (const key of keys) answered = check(key);
  return (cpuSoFar() - before) / keys.length;
}

const nothing = new Int32Array(new SharedArrayBuffer(4));

/** Nanoseconds of CPU of this thread so far. */
export function cpuSoFar(): number {
  // The system brings its account up to date when the thread sleeps, and else every 4 ms: a turn takes no more than a few times that.
  Atomics.wait(nothing, 0, 0, 0.05);
  const { user, system } = process.threadCpuUsage();
  return (user + system) * 1000;
}

async function each(check: Check, keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    try {
      answered = await check(key);
    } catch (refusal) {
      answered = refusal;
    }
  }
}

/** Makes everything that is alive old. */
export function collectYoung(): void {
  for (let time = 0; time < 2; time++) globalThis.gc?.({ type: "minor" });
}
