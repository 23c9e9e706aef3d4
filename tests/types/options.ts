// Options refuse what they don't know, before the program runs: checked by tsc alone, never run.

import { Engine, HotKV, simulate, Valve } from "tidegate";
import { HotKV as NetworkClient, Valve as NetworkValve } from "tidegate/client";
import { rateLimit } from "tidegate/fetch";
import { limitRoute } from "tidegate/next";

declare const client: HotKV;
const handler = () => new Response("");
const policy = { name: "burst", limit: 10, windowMs: 60_000 } as const;

// What is right passes.
new Engine({ maxKeys: 10, maxLimiters: 1, clock: () => 0 });
new HotKV({ url: new URL("https://limits.example.com"), token: "t", onUnavailable: "allow" });
new Valve({ namespace: "n", rate: { limit: 1, interval: "1s", algorithm: "gcra", burst: 1, name: "a" } });
client.rateLimitCreate("a", 1, 1000);
client.rateLimitCreate("a", 1, 1000, { algo: "leaky_bucket", drain: "0.5" });
rateLimit(handler, { store: client, policies: [policy], proxies: ["10.0.0.0/8"] });

// @ts-expect-error: maxKey is maxKeys
new Engine({ maxKey: 10 });
// @ts-expect-error: a clock gives a number
new Engine({ clock: () => new Date() });
// @ts-expect-error: URL is url
new HotKV({ URL: "memory:" });
// @ts-expect-error: there is no third way out
new HotKV({ onUnavailable: "ignore" });
// @ts-expect-error: a client over the network needs to know where
new NetworkClient({});

// @ts-expect-error: named limiters have five algorithms
client.rateLimitCreate("a", 1, 1000, { algo: "token-bucket" });
// @ts-expect-error: only a token bucket refills
client.rateLimitCreate("a", 1, 1000, { algo: "gcra", refill: 1 });
// @ts-expect-error: a leaky bucket drains
client.rateLimitCreate("a", 1, 1000, { algo: "leaky_bucket", refill: 1 });
// @ts-expect-error: costs is cost
client.rateLimitCheck("a", "k", { costs: 2 });
// @ts-expect-error: seconds are ex, milliseconds px
client.set("k", "v", { ttl: 1 });
// @ts-expect-error: a count is a number
client.gcraLimit("k", 1000, 1, "1");

// @ts-expect-error: a valve has a namespace
new Valve({ rate: { limit: 1, interval: "1s" } });
// @ts-expect-error: name is namespace
new Valve({ name: "n", namespace: "n", rate: { limit: 1, interval: "1s" } });
// @ts-expect-error: busrt is burst, in one rule
new Valve({ namespace: "n", rate: { limit: 1, interval: "1s", busrt: 5 } });
// And in one of several.
new Valve({
  namespace: "n",
  rate: [
    { limit: 1, interval: "1s" },
    // @ts-expect-error: busrt is burst
    { limit: 1, interval: "2s", busrt: 5 },
  ],
});
// @ts-expect-error: a rule has an interval
new Valve({ namespace: "n", rate: { limit: 1 } });
// @ts-expect-error: the windows of a policy are spelled with a hyphen
new Valve({ namespace: "n", rate: { limit: 1, interval: "1s", algorithm: "fixed_window" } });
// @ts-expect-error: leaseMs is lease
new Valve({ namespace: "n", rate: { limit: 1, interval: "1s" }, concurrency: { limit: 1, leaseMs: 5 } });
// @ts-expect-error: and over the network too
new NetworkValve({ store: client, namespace: "n", rate: { limit: 1, interval: "1s", busrt: 5 } });

const valve = new Valve({ namespace: "n", rate: { limit: 1, interval: "1s" } });
valve.run(() => 1, { cost: 1, priority: 2, maxWaitMs: 3, signal: AbortSignal.timeout(4) });
// @ts-expect-error: timeout is maxWaitMs
valve.run(() => 1, { timeout: 3 });
// @ts-expect-error: who only asks doesn't wait
valve.admit({ maxWaitMs: 3 });
// @ts-expect-error: there is no such event
valve.on("denied", () => {});

// @ts-expect-error: middleware needs a store
rateLimit(handler, { policies: policy });
// @ts-expect-error: window is windowMs
rateLimit(handler, { store: client, policies: { name: "burst", limit: 10, window: 60 } });
// @ts-expect-error: a route handler can't see the socket, so it says whose budget it is
limitRoute(handler, { store: client, policies: policy });

// @ts-expect-error: a simulation's rules are checked like a limiter's
simulate({ rules: [{ limit: 1 }] });
