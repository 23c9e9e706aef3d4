// A million keys arrive, recover, and give way to a million others: how long single calls take while they do.

import { freshKeys } from "../keys.ts";
import { Pauses } from "../pauses.ts";
import type { Turn } from "../turns.ts";

export async function prepare({ keys }: { readonly keys: number }): Promise<() => Turn> {
  const { Engine } = await import("tidegate");
  let ahead = 0;
  const engine = new Engine({ clock: () => Date.now() + ahead });
  const arrive = (first: number): Pauses => {
    const pauses = new Pauses();
    for (let from = first; from < first + keys; from += 10_000) {
      const chunk = freshKeys(Array.from({ length: 10_000 }, (_, at) => from + at));
      let last = performance.now();
      for (const key of chunk) {
        engine.gcraLimit(key, 6_000_000, 10);
        const now = performance.now();
        pauses.add(now - last);
        last = now;
      }
    }
    return pauses;
  };
  return () => {
    const arriving = arrive(0);
    const bytes = engine.stats().memoryBytes;
    ahead = 12_000_000;
    const { longest, over1ms, over10ms } = arrive(keys);
    return {
      arriving: arriving.longest,
      leaving: longest,
      over1ms,
      over10ms,
      growth: engine.stats().memoryBytes / bytes,
    };
  };
}
