// rate-limiter-flexible in memory: a fixed window for each key. A refusal is a rejected promise.

import { peer } from "../peers.ts";
import type { Subject } from "../subject.ts";

interface Peer {
  readonly RateLimiterMemory: new (options: {
    points: number;
    duration: number;
  }) => {
    consume(key: string): Promise<unknown>;
  };
}

export const subject: Subject = {
  awaited: true,
  async make({ period, burst }) {
    const { RateLimiterMemory } = await peer<Peer>("rate-limiter-flexible");
    const limiter = new RateLimiterMemory({ points: burst, duration: period / 1000 });
    return (key) => limiter.consume(key);
  },
};
