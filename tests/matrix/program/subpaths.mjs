// What each way into the package is for, done once: on every runtime that has what it takes, and where one has not, the
// error that says so.

import { equal, refused } from "./expect.mjs";
import { commands, policies } from "./reference.mjs";

/** 2025-12-01, as in the worked cases. */
const NOW = 1_764_547_200_000;
const BURST = { name: "burst", limit: 1, windowMs: 60_000 };

/** A check for each subpath: `use(module, place, check)`. A new subpath fails until it has one. */
export const uses = {
  tidegate: engine,
  "tidegate/inline": engine,

  async "tidegate/web"(module, place, check) {
    await check("says what to do before it is initialized", () =>
      refused(() => new module.Engine(), "STORE_UNAVAILABLE", /await init\(\)/),
    );
    await check("takes its module", async () => {
      if (place.module === undefined) await module.init();
      else await module.init(await place.module());
    });
    // It has what every web page has, and no more on any runtime.
    await engine(module, { ...place, files: "none", sockets: false }, check);
  },

  async "tidegate/client"(module, { worker, server, sockets }, check) {
    await check("wants to know where", () => refused(() => new module.HotKV(), "INVALID_ARGUMENT", /https:\/\/HOST/));
    await check("a Worker over HTTP", () => network(module, { url: worker.url, token: worker.token }));
    if (sockets)
      await check("a server over RESP", () => network(module, { url: server.url, password: server.password }));
    else {
      await check("no sockets here", () =>
        refused(() => new module.HotKV({ url: server.url }), "INVALID_ARGUMENT", /^url must be https:\/\/HOST;/),
      );
    }
  },

  async "tidegate/workers"(module, { binding }, check) {
    await check("a client needs its binding", () =>
      refused(() => new module.HotKV({ binding: "TIDEGATE" }), "INVALID_ARGUMENT", /Durable Object binding/),
    );
    if (binding === undefined) {
      await check("says where Durable Objects are", () =>
        refused(() => new module.TidegateObject(), "STORE_UNAVAILABLE", /Cloudflare's runtime/),
      );
      return;
    }
    await check("budgets in an object", () => network(module, { binding }));
  },

  async "tidegate/server"({ openHost, serve, createLog }, place, check) {
    let line = "";
    await check("a log", () => {
      createLog(
        "text",
        (text) => (line += text),
        () => NOW,
      ).info("started");
      equal(line, "2025-12-01T00:00:00.000Z started\n", "line");
    });
    if (!place.sockets) {
      await check("says where a server can be", () =>
        refused(() => serve(), "STORE_UNAVAILABLE", /Node, Deno and Bun/),
      );
      await check("and a host", () => refused(() => openHost({}), "STORE_UNAVAILABLE", /Node, Deno and Bun/));
      return;
    }
    await check("a client's whole visit", async () => {
      const server = await serve(openHost({}), { port: 0, password: "secret" });
      try {
        const { HotKV } = await place.load("tidegate/client");
        await network(
          { HotKV, Valve: (await place.load("tidegate/client")).Valve },
          {
            url: `hotkv://127.0.0.1:${server.port}`,
            password: "secret",
          },
        );
      } finally {
        await server.close();
      }
    });
  },

  async "tidegate/fetch"({ rateLimit, parseRateLimit, addressKey }, place, check) {
    await check("one request passes and the next is refused", async () => {
      const handler = rateLimit(() => new Response("hello"), await options(place));
      await passesOnce(() => handler(new Request("https://example.com/")));
    });
    await check("its fields are read back", () => {
      const headers = { RateLimit: '"burst";r=3;t=7', "RateLimit-Policy": '"burst";q=10;w=60' };
      const [state] = parseRateLimit(new Response(null, { headers })).states;
      equal([state.name, state.remaining], ["burst", 3], "state");
    });
    await check("addresses of one network are one client", () =>
      equal(addressKey("2001:db8:1:2:3::4"), addressKey("2001:db8:1:2:5::6"), "key"),
    );
  },

  async "tidegate/next"({ limitRoute }, place, check) {
    await check("one request passes and the next is refused", async () => {
      const GET = limitRoute((_request, { params }) => new Response(params.text), await options(place));
      await passesOnce(() => GET(new Request("https://example.com/"), { params: { text: "hello" } }));
    });
  },

  async "tidegate/stores"({ FixedWindowStore }, { load }, check) {
    await check("counts hits in aligned windows", async () => {
      const { HotKV } = await load("tidegate");
      const hits = new FixedWindowStore({ store: new HotKV({ clock: () => NOW + 1 }) });
      hits.init({ windowMs: 60_000 });
      const given = [await hits.increment("client"), await hits.increment("client")];
      equal(
        given.map(({ totalHits }) => totalHits),
        [1, 2],
        "hits",
      );
      equal(given[1].resetTime.getTime(), NOW + 60_000, "reset");
    });
  },

  async "tidegate/hono"({ rateLimit }, place, check) {
    await check("one request passes and the next is refused", async () => {
      const { Hono } = await place.load("hono");
      const app = new Hono();
      app.use(rateLimit(await options(place)));
      app.get("/", (context) => context.text("hello"));
      await passesOnce(() => app.request("/"));
    });
  },

  async "tidegate/express"({ rateLimit }, place, check) {
    await check("one request passes and the next is refused", async () => {
      const express = await place.load("express");
      const app = (express.default ?? express)();
      app.use(rateLimit(await options(place)));
      app.get("/", (_request, response) => response.end("hello"));
      const server = app.listen(0, "127.0.0.1");
      await new Promise((done) => server.once("listening", done));
      try {
        await passesOnce(() => fetch(`http://127.0.0.1:${server.address().port}/`));
      } finally {
        server.close();
        server.closeAllConnections();
      }
    });
  },

  async "tidegate/fastify"({ rateLimit }, place, check) {
    await check("one request passes and the next is refused", async () => {
      const fastify = await place.load("fastify");
      const app = (fastify.default ?? fastify)();
      rateLimit(app, await options(place));
      app.get("/", async () => "hello");
      await passesOnce(async () => {
        const { statusCode, headers, payload } = await app.inject("/");
        return new Response(payload, { status: statusCode, headers });
      });
      await app.close();
    });
  },

  async "tidegate/package.json"(manifest, { version }, check) {
    await check("its version", () => equal((manifest.default ?? manifest).version, version, "version"));
  },
};

/** The engine in this process: the worked cases, and what this runtime has beside memory. */
async function engine(module, place, check) {
  await commands(module, check);
  await policies(module, check);
  await check("jobs in their turn", () => jobs(module));
  await check("many keys at once", () => {
    const engine = new module.Engine({ clock: () => NOW });
    const { remaining, denied } = engine.gcraLimitMany(["a", "b", "a", "a"], 1000, 2);
    equal(
      [[...remaining], [...denied]],
      [
        [1, 1, 0, 0],
        [0, 0, 0, 1],
      ],
      "decisions",
    );
  });
  await check("file:", () => file(module, place));
  if (!place.sockets) {
    await check("hotkv:", () =>
      refused(() => new module.HotKV({ url: "hotkv://127.0.0.1:1" }), "INVALID_ARGUMENT", /in a browser or a Worker/),
    );
  }
}

/** A file keeps its budget from one client to the next; where it can't, that is said before anything is decided. */
async function file({ HotKV }, { files, folder }) {
  const url = `file:${folder ?? ""}/${Math.random()}.db`;
  if (files === "none") return refused(() => new HotKV({ url }), "INVALID_ARGUMENT", /in a browser or a Worker/);
  if (files === "no SQLite") {
    return refused(() => new HotKV({ url }).gcraLimit("k", 1000, 1), "STORE_UNAVAILABLE", /needs node:sqlite.*22\.13/);
  }
  for (const remaining of [1, 0]) {
    const client = new HotKV({ url, clock: () => NOW });
    equal((await client.gcraLimit("k", 1000, 2)).remaining, remaining, "remaining");
    await client.close();
  }
}

/** Jobs wait for their turn and run in it. */
async function jobs({ Valve }, store) {
  const valve = new Valve({
    ...(store && { store }),
    namespace: `jobs ${Math.random()}`,
    rate: { limit: 1, interval: 30 },
    concurrency: { limit: 5 },
  });
  const order = [];
  const answers = await Promise.all([1, 2, 3].map((job) => valve.run(async () => order.push(job) && `did ${job}`)));
  equal(
    [answers, order],
    [
      ["did 1", "did 2", "did 3"],
      [1, 2, 3],
    ],
    "jobs",
  );
  equal(valve.stats().admitted, 3, "admitted");
  await valve.drain();
}

/** A budget somewhere else: every answer of one key, a named limiter, a policy, and jobs. */
async function network({ HotKV, Valve }, options) {
  const client = new HotKV(options);
  const key = `matrix ${Math.random()}`;
  for (const remaining of [2, 1, 0]) {
    const result = await client.gcraLimit(key, 3_600_000, 3);
    equal([result.denied, result.limit, result.remaining], [false, 3, remaining], "allowed");
  }
  equal((await client.gcraLimit(key, 3_600_000, 3)).denied, true, "the fourth is denied");
  await client.rateLimitCreate(key, 2, 3_600_000);
  equal((await client.rateLimitCheck(key, "k", { cost: 2 })).allowed, true, "a named limiter");
  equal((await client.rateLimitCheck(key, "k")).allowed, false, "a named limiter");
  const rate = [
    { limit: 1, interval: "1h" },
    { limit: 5, interval: "1h", algorithm: "fixed-window" },
  ];
  const valve = new Valve({ store: client, namespace: key, rate });
  equal((await valve.admit()).allowed, true, "a policy");
  equal((await valve.admit()).blockedBy, [{ index: 0 }], "a policy");
  await jobs({ Valve }, client);
  await client.close();
}

async function options({ load }) {
  const { HotKV } = await load("tidegate");
  return { store: new HotKV({ clock: () => NOW }), policies: BURST, key: () => "client" };
}

/** The first request passes, with the fields of the standard; the second is refused, and told for how long. */
async function passesOnce(request) {
  const passed = await request();
  equal([passed.status, await passed.text()], [200, "hello"], "the first");
  equal(passed.headers.get("RateLimit"), '"burst";r=0;t=60', "RateLimit");
  equal(passed.headers.get("RateLimit-Policy"), '"burst";q=1;w=60', "RateLimit-Policy");
  const denied = await request();
  equal([denied.status, denied.headers.get("Retry-After")], [429, "60"], "the second");
  equal((await denied.json())["violated-policies"], ["burst"], "violated-policies");
}
