import { HotKVError } from "../errors.ts";

// `tidegate/workers` where there are no Durable Objects, such as a Worker's unit tests on Node: it loads, its client takes any
// binding, and only what can't be is refused.

export * from "./client.ts";

/** Says where Durable Objects are. */
export class TidegateObject {
  constructor() {
    throw new HotKVError(
      "STORE_UNAVAILABLE",
      'TidegateObject is a Durable Object, which Cloudflare\'s runtime makes: bundle with the condition "workerd", as wrangler does',
    );
  }
}
