// GCRA by hand on typed arrays: open addressing, and a fingerprint of 64 bits for a key. It keeps no keys, so two of them can
// share a budget, and its hash has no seed, so that somebody can choose such keys. Nothing is ever forgotten.

import type { Subject } from "../subject.ts";

/** What is stored for a fingerprint. */
class Table {
  mask = 1023;
  size = 0;
  high = new Int32Array(1024);
  low = new Int32Array(1024);
  tats = new Float64Array(1024);

  /** The slot of a fingerprint, or the empty one where it belongs. A tat of 0 marks an empty one. */
  slot(high: number, low: number): number {
    let at = low & this.mask;
    while (this.tats[at] !== 0 && (this.low[at] !== low || this.high[at] !== high)) at = (at + 1) & this.mask;
    return at;
  }

  /** Doubles it. */
  grow(): void {
    const { high, low, tats } = this;
    const slots = tats.length * 2;
    this.mask = slots - 1;
    this.high = new Int32Array(slots);
    this.low = new Int32Array(slots);
    this.tats = new Float64Array(slots);
    for (let from = 0; from < tats.length; from++) {
      const tat = tats[from] ?? 0;
      if (tat === 0) continue;
      const to = this.slot(high[from] ?? 0, low[from] ?? 0);
      this.high[to] = high[from] ?? 0;
      this.low[to] = low[from] ?? 0;
      this.tats[to] = tat;
    }
  }
}

export const subject: Subject = {
  make({ period, burst }) {
    const table = new Table();
    const spacing = period / burst;
    return (key) => {
      const now = Date.now();
      let high = 0x811c9dc5 | 0;
      let low = 0x9747b28c | 0;
      for (let at = 0; at < key.length; at++) {
        const code = key.charCodeAt(at);
        high = Math.imul(high ^ code, 0x01000193);
        low = Math.imul(low ^ code, 0x5bd1e995);
        low ^= low >>> 15;
      }
      let slot = table.slot(high, low);
      const stored = table.tats[slot] as number;
      const tat = Math.max(stored, now);
      const after = tat + spacing;
      if (after - now > period) {
        const retryAfterMs = Math.ceil(after - period - now);
        return { denied: true, limit: burst, remaining: 0, retryAfterMs, resetAfterMs: Math.ceil(tat - now) };
      }
      if (stored === 0) {
        if (++table.size > table.tats.length / 2) {
          table.grow();
          slot = table.slot(high, low);
        }
        table.high[slot] = high;
        table.low[slot] = low;
      }
      table.tats[slot] = after;
      const remaining = Math.floor((period - (after - now)) / spacing);
      return { denied: false, limit: burst, remaining, retryAfterMs: -1, resetAfterMs: Math.ceil(after - now) };
    };
  },
};
