// A million keys arrive: how long it takes, how long nothing else could run, and what they weigh.

import { cpuSoFar } from "../clock.ts";
import { freshKeys } from "../keys.ts";
import { Pauses } from "../pauses.ts";
import { allows, type Subject } from "../subject.ts";
import type { Turn } from "../turns.ts";

export interface Settings {
  readonly subject: string;
  readonly keys: number;
}

/** Bytes that are held on to: the heap, typed arrays, and the memory of a WebAssembly module. */
function held({ memory }: Subject): number {
  for (let time = 0; time < 3; time++) globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers + (memory?.() ?? 0);
}

export async function prepare({ subject: name, keys }: Settings): Promise<() => Promise<Turn>> {
  const { subject } = (await import(`../subjects/${name}.ts`)) as { subject: Subject };
  // The code is warm, with another instance.
  const rehearsal = await subject.make(allows(keys));
  for (const key of freshKeys(Array.from({ length: 20_000 }, (_, user) => user % 500))) await rehearsal(key);
  const check = await subject.make(allows(keys));
  await check("first");
  const before = held(subject);
  return async () => {
    let spent = 0;
    const pauses = new Pauses();
    const CHUNK = 10_000;
    for (let from = 0; from < keys; from += CHUNK) {
      const chunk = freshKeys(Array.from({ length: Math.min(CHUNK, keys - from) }, (_, at) => from + at));
      const before = cpuSoFar();
      let last = performance.now();
      for (const key of chunk) {
        const answer = check(key);
        if (subject.awaited) await answer;
        const now = performance.now();
        pauses.add(now - last);
        last = now;
      }
      spent += cpuSoFar() - before;
    }
    const bytes = (held(subject) - before) / keys;
    // It is alive until it was weighed.
    await check("last");
    return { ns: spent / keys, ...pauses, bytes };
  };
}
