// Two Durable Objects under one load: Tidegate's, and the counter that somebody would write by hand.

import { DurableObject } from "cloudflare:workers";
import { type Command, HotKV, type HotKVOptions, TidegateObject } from "tidegate/workers";

export { TidegateObject };

/** One counter in SQL: the least that a limiter of one's own does. */
export class Counter extends DurableObject {
  #made = false;

  hit(): number {
    const { sql } = this.ctx.storage;
    if (!this.#made) sql.exec("CREATE TABLE IF NOT EXISTS counter (name TEXT PRIMARY KEY, count INTEGER)");
    this.#made = true;
    const query =
      "INSERT INTO counter VALUES ('k', 1) ON CONFLICT (name) DO UPDATE SET count = count + 1 RETURNING count";
    for (const [count] of sql.exec(query).raw()) return Number(count);
    return 0;
  }
}

interface Env {
  readonly TIDEGATE: HotKVOptions["binding"];
  readonly COUNTER: HotKVOptions["binding"];
}

const SIXTEEN: Command[] = Array.from({ length: 16 }, () => ["GCRA.LIMIT", "k", 1_000_000_000_000, 1_000_000_000]);

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    switch (new URL(request.url).pathname) {
      case "/counter": {
        const stub = env.COUNTER.get(env.COUNTER.idFromName("k")) as unknown as { hit(): Promise<number> };
        return new Response(String(await stub.hit()));
      }
      case "/check": {
        const client = new HotKV({ binding: env.TIDEGATE });
        const { remaining } = await client.gcraLimit("k", 1_000_000_000_000, 1_000_000_000);
        return new Response(String(remaining));
      }
      case "/pipeline": {
        const client = new HotKV({ binding: env.TIDEGATE });
        return new Response(String((await client.pipeline(SIXTEEN)).length));
      }
      default:
        return new Response("ready");
    }
  },
};
