// GCRA as one writes it by hand: a Map of floats. Keys are never forgotten.

import type { Subject } from "../subject.ts";

export const subject: Subject = {
  make({ period, burst }) {
    const tats = new Map<string, number>();
    const spacing = period / burst;
    return (key) => {
      const now = Date.now();
      const tat = Math.max(tats.get(key) ?? now, now);
      const after = tat + spacing;
      if (after - now > period) {
        const retryAfterMs = Math.ceil(after - period - now);
        return { denied: true, limit: burst, remaining: 0, retryAfterMs, resetAfterMs: Math.ceil(tat - now) };
      }
      tats.set(key, after);
      const remaining = Math.floor((period - (after - now)) / spacing);
      return { denied: false, limit: burst, remaining, retryAfterMs: -1, resetAfterMs: Math.ceil(after - now) };
    };
  },
};
