import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { serve as serveHono } from "@hono/node-server";
import express from "express";
import * as forExpress from "express-rate-limit";
import { Hono } from "hono";
import * as forHono from "hono-rate-limiter";
import { type Client, HotKV } from "tidegate";
import { openHost, serve } from "tidegate/server";
import { FixedWindowStore } from "tidegate/stores";

/** The start of a window of a minute. */
const START = 1_764_547_200_000;
const WINDOW = 60_000;
const LIMIT = 10;

interface Running extends AsyncDisposable {
  readonly url: string;
}

/** A real server of each library over a store, whose route answers 500 where it is asked to. */
const libraries: Readonly<Record<string, (store: Client, prefix?: string) => Promise<Running>>> = {
  "express-rate-limit": async (store, prefix = "hits") => {
    const app = express().use(
      forExpress.rateLimit({
        windowMs: WINDOW,
        limit: LIMIT,
        standardHeaders: "draft-7",
        skipFailedRequests: true,
        keyGenerator: (request) => String(request.headers["client"]),
        store: new FixedWindowStore({ store, prefix }),
      }),
    );
    app.get("/", (_, response) => void response.send("hello"));
    app.get("/fail", (_, response) => void response.status(500).send("sorry"));
    return listening(createServer(app));
  },
  "hono-rate-limiter": async (store, prefix = "hits") => {
    const app = new Hono();
    app.use(
      forHono.rateLimiter({
        windowMs: WINDOW,
        limit: LIMIT,
        standardHeaders: "draft-7",
        skipFailedRequests: true,
        keyGenerator: (context) => context.req.header("client") ?? "",
        store: new FixedWindowStore({ store, prefix }),
      }),
    );
    app.get("/", (context) => context.text("hello"));
    app.get("/fail", (context) => context.text("sorry", 500));
    return listening(
      serveHono({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }) as ReturnType<typeof createServer>,
    );
  },
};

async function listening(server: ReturnType<typeof createServer>): Promise<Running> {
  if (!server.listening) server.listen(0, "127.0.0.1");
  if (!server.listening) await new Promise((resolve) => server.once("listening", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function ask(url: string, client = "a"): Promise<Response> {
  const response = await fetch(url, { headers: { client } });
  await response.arrayBuffer();
  return response;
}

/** How many of `count` parallel requests to these servers in turn pass. */
async function passed(urls: readonly string[], count: number, client?: string): Promise<number> {
  const each = Array.from({ length: count }, (_, at) => ask(urls[at % urls.length] ?? "", client));
  return (await Promise.all(each)).filter(({ status }) => status === 200).length;
}

for (const [name, start] of Object.entries(libraries)) {
  describe(`${name} over a FixedWindowStore`, () => {
    it("admits exactly the limit in every window, and says when the next one begins", async () => {
      let now = START;
      await using server = await start(new HotKV({ clock: () => now }));
      for (const at of [0, WINDOW, WINDOW * 2 + 59_999, WINDOW * 3]) {
        now = START + at;
        assert.equal(await passed([server.url], 40), LIMIT, `at ${at}`);
        assert.equal(await passed([server.url], 5, "b"), 5);
      }
      const response = await ask(server.url);
      assert.equal(response.status, 429);
      assert.match(response.headers.get("RateLimit") ?? "", /limit=10, remaining=0, reset=/);
    });

    it("counts as one where two servers share a store", async () => {
      let now = START;
      const host = openHost({ clock: () => now });
      const limits = await serve(host, { port: 0 });
      const stores = [0, 1].map(() => new HotKV({ url: `hotkv://127.0.0.1:${limits.port}` }));
      const [first, second] = stores as [HotKV, HotKV];
      await using one = await start(first);
      await using two = await start(second);
      try {
        for (let window = 0; window < 4; window++) {
          now = START + window * WINDOW;
          assert.equal(await passed([one.url, two.url], 40), LIMIT, `window ${window}`);
        }
      } finally {
        await Promise.all(stores.map((store) => store.close()));
        await limits.close();
      }
    });

    it("takes back what the library skips, so that failures cost nothing", async () => {
      // express-rate-limit takes nothing back once the window is over by its own clock.
      const now = Date.now() + WINDOW;
      await using server = await start(new HotKV({ clock: () => now }));
      for (let round = 0; round < 3; round++) {
        for (let each = 0; each < LIMIT; each++) assert.equal((await ask(`${server.url}/fail`)).status, 500);
        // The library takes back after it answered.
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      assert.equal(await passed([server.url], 40), LIMIT);
    });

    it("counts limiters of different prefixes apart", async () => {
      const store = new HotKV({ clock: () => START });
      await using one = await start(store, "one");
      await using two = await start(store, "two");
      assert.deepEqual([await passed([one.url], 20), await passed([two.url], 20)], [LIMIT, LIMIT]);
    });
  });
}

describe("FixedWindowStore", () => {
  const make = (client: Client, windowMs = WINDOW) => {
    const store = new FixedWindowStore({ store: client });
    store.init({ windowMs });
    return store;
  };

  it("counts every hit, those over any limit too, until the window's end", async () => {
    let now = START + 1234;
    const store = make(new HotKV({ clock: () => now }));
    assert.equal(await store.get("a"), undefined);
    for (let hits = 1; hits <= 30; hits++) {
      assert.deepEqual(await store.increment("a"), { totalHits: hits, resetTime: new Date(START + WINDOW) });
    }
    assert.deepEqual(await store.get("a"), { totalHits: 30, resetTime: new Date(START + WINDOW) });
    now = START + WINDOW;
    assert.equal(await store.get("a"), undefined);
    assert.deepEqual(await store.increment("a"), { totalHits: 1, resetTime: new Date(START + 2 * WINDOW) });
  });

  it("never gives a client more hits than it had: what a window's end took with it can't be taken back", async () => {
    let now = START;
    const store = make(new HotKV({ clock: () => now }));
    await store.decrement("a");
    await store.increment("a");
    now += WINDOW;
    await store.decrement("a");
    assert.equal((await store.increment("a")).totalHits, 1);
    await store.decrement("a");
    await store.decrement("a");
    assert.equal((await store.increment("a")).totalHits, 1);
  });

  it("forgets one client, or all", async () => {
    const store = make(new HotKV({ clock: () => START }));
    await store.resetAll();
    for (const key of ["a", "b", "b"]) await store.increment(key);
    await store.decrement("b");
    await store.resetKey("b");
    assert.equal((await store.increment("b")).totalHits, 1);
    assert.equal((await store.increment("a")).totalHits, 2);
    await store.resetAll();
    assert.equal((await store.increment("a")).totalHits, 1);
  });

  it("rejects when its store is down, so that the library's own setting decides", async () => {
    const client = new HotKV({ url: "hotkv://127.0.0.1:1", timeoutMs: 200 });
    await assert.rejects(make(client).increment("a"), { code: "STORE_UNAVAILABLE" });
    await client.close();
  });

  it("names what is wrong with its options", async () => {
    const client = new HotKV();
    assert.throws(() => new FixedWindowStore({ store: {} as never }), { argument: "store" });
    assert.throws(() => new FixedWindowStore({ store: client, prefix: 1 as never }), { argument: "prefix" });
    assert.throws(() => new FixedWindowStore({ store: client, name: "a" } as never), { argument: "name" });
    assert.throws(() => make(client, 1.5), { argument: "windowMs" });
    await assert.rejects(new FixedWindowStore({ store: client }).increment("a"), { code: "INVALID_ARGUMENT" });
  });
});
