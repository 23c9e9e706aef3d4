// express-rate-limit's store in memory: it counts, and leaves the decision to its middleware.

import { peer } from "../peers.ts";
import type { Subject } from "../subject.ts";

interface Peer {
  readonly MemoryStore: new () => {
    init(options: { windowMs: number }): void;
    increment(key: string): Promise<unknown>;
  };
}

export const subject: Subject = {
  awaited: true,
  async make({ period }) {
    const { MemoryStore } = await peer<Peer>("express-rate-limit");
    const store = new MemoryStore();
    store.init({ windowMs: period });
    return (key) => store.increment(key);
  },
};
