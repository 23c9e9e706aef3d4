import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { serve as serveHono } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { parseList } from "structured-headers";
import { HotKV } from "tidegate";
import * as forExpress from "tidegate/express";
import * as forFastify from "tidegate/fastify";
import { type GuardOptions, type Problem, rateLimit } from "tidegate/fetch";
import * as forHono from "tidegate/hono";
import { limitRoute } from "tidegate/next";

// @types/express describes version 5; what is used here is the same in 4.
const { default: express4 } = (await import("express4" as string)) as { readonly default: typeof express };

/** What is used of autocannon, which brings no types. */
type Autocannon = (options: {
  readonly url: string;
  readonly amount: number;
  readonly connections: number;
  readonly setupClient: (client: {
    on(
      name: "headers",
      listener: (head: { readonly statusCode: number; readonly headers: readonly string[] }) => void,
    ): void;
  }) => void;
}) => Promise<Readonly<Record<"2xx" | "4xx" | "5xx" | "errors", number>>>;
const { default: autocannon } = (await import("autocannon" as string)) as { readonly default: Autocannon };

const NOW = 1_764_547_200_000;
const policies = [
  { name: "burst", limit: 10, windowMs: 60_000 },
  { name: "daily", limit: 1000, windowMs: 86_400_000, algorithm: "fixed_window" },
] as const;
const options = () => ({ store: new HotKV({ clock: () => NOW }), policies, legacyHeaders: true });

/** Each framework's real server with one limited route, and what stops it. */
type Start = (options: Options) => Promise<readonly [url: string, close: () => unknown]>;
type Options = Pick<GuardOptions<unknown>, "store" | "policies" | "legacyHeaders">;

const frameworks: Readonly<Record<string, Start>> = {
  "Express 5": async (options) => {
    const app = express().use(forExpress.rateLimit(options));
    return listening(createServer(app.get("/", (_, response) => void response.send("hello"))));
  },
  "Express 4": async (options) => {
    const app = express4().use(forExpress.rateLimit(options));
    return listening(createServer(app.get("/", (_, response) => void response.send("hello"))));
  },
  Fastify: async (options) => {
    const app = fastify();
    forFastify.rateLimit(app, options);
    app.get("/", () => "hello");
    return [await app.listen({ port: 0, host: "127.0.0.1" }), () => app.close()];
  },
  Hono: async (options) => {
    const app = new Hono().use(forHono.rateLimit(options)).get("/", (context) => context.text("hello"));
    const server = serveHono({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }) as Server;
    return listening(server, false);
  },
  "a route handler of Next": async (options) => {
    // Next passes a route handler a Request and the route's parameters, as this server does.
    const GET = limitRoute((_request, _context: object) => new Response("hello"), { ...options, key: () => "client" });
    const server = serveHono({ fetch: (request) => GET(request, {}), port: 0, hostname: "127.0.0.1" }) as Server;
    return listening(server, false);
  },
};

async function listening(server: Server, listen = true): Promise<readonly [string, () => unknown]> {
  if (listen) server.listen(0, "127.0.0.1");
  if (!server.listening) await new Promise((resolve) => server.once("listening", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return [`http://127.0.0.1:${(server.address() as AddressInfo).port}`, close];
}

/** A field's items as a structured-fields parser reads them. */
function items(field: string | null): unknown {
  return parseList(field ?? "").map(([name, parameters]) => [
    name,
    Object.fromEntries(parameters as Map<string, unknown>),
  ]);
}

for (const [name, start] of Object.entries(frameworks)) {
  describe(name, () => {
    it("admits exactly the limit of 50 parallel requests, and says how things stand", async () => {
      const [url, close] = await start(options());
      await using _stop = { [Symbol.asyncDispose]: async () => void (await close()) };
      const responses = await Promise.all(Array.from({ length: 50 }, () => fetch(url)));
      const passed = responses.filter(({ status }) => status === 200);
      const refused = responses.filter(({ status }) => status === 429);
      assert.deepEqual([passed.length, refused.length], [10, 40]);
      for (const response of responses) {
        assert.deepEqual(items(response.headers.get("RateLimit-Policy")), [
          ["burst", { q: 10, w: 60 }],
          ["daily", { q: 1000, w: 86_400 }],
        ]);
      }
      const left = passed.map(({ headers }) => headers.get("RateLimit")).sort();
      const all = Array.from({ length: 10 }, (_, r) => `"burst";r=${r};t=${60 - 6 * r},"daily";r=${990 + r}`);
      assert.deepEqual(left, all.map((field) => field.replace(",", ", ")).sort());
      const [denied] = refused;
      assert.deepEqual(items(denied?.headers.get("RateLimit") ?? null), [["burst", { r: 0, t: 6 }]]);
      assert.equal(denied?.headers.get("Retry-After"), "6");
      assert.equal(denied?.headers.get("X-RateLimit-Remaining"), "0");
      assert.match(denied?.headers.get("Content-Type") ?? "", /^application\/problem\+json/);
      const problem = (await denied?.json()) as Problem;
      assert.equal(problem.status, 429);
      assert.deepEqual(problem["violated-policies"], ["burst"]);
      assert.match(problem.type, /#quota-exceeded$/);
    });

    it("admits exactly the limit in every window under autocannon, and tells each request another remainder", async () => {
      let now = NOW;
      const store = new HotKV({ clock: () => now });
      const limit = 25;
      const [url, close] = await start({
        store,
        policies: { name: "win", limit, windowMs: 60_000, algorithm: "fixed_window" },
      });
      await using _stop = { [Symbol.asyncDispose]: async () => void (await close()) };
      for (const at of [0, 59_999, 60_000, 240_000]) {
        now = NOW + at;
        const left: unknown[] = [];
        const result = await autocannon({
          url,
          amount: 200,
          connections: 20,
          setupClient: (client) =>
            client.on("headers", ({ statusCode, headers }) => {
              const field = headers[headers.findIndex((name) => name.toLowerCase() === "ratelimit") + 1];
              if (statusCode === 200) left.push(items(field ?? null));
            }),
        });
        // The second look is into the window that the first one used up.
        const due = at === 59_999 ? 0 : limit;
        assert.deepEqual(
          [result["2xx"], result["4xx"], result["5xx"], result.errors],
          [due, 200 - due, 0, 0],
          `at ${at}`,
        );
        const remainders = left.map((field) => (field as [[string, { r: number }]])[0][1].r);
        assert.deepEqual(
          remainders.sort((a, b) => b - a),
          Array.from({ length: due }, (_, index) => limit - 1 - index),
        );
      }
    });
  });
}

describe("web handlers", () => {
  it("wraps any (Request) => Response, and passes on what the runtime brings", async () => {
    const handler = rateLimit((_request, name: string) => new Response(`hello ${name}`), {
      ...options(),
      key: (request) => request.headers.get("api-key") ?? "nobody",
      cost: (request) => Number(request.headers.get("cost") ?? 1),
      skip: (request) => request.url.endsWith("/health"),
    });
    const ask = (key: string, cost = "1", path = "/") =>
      handler(new Request(`https://example.com${path}`, { headers: { "api-key": key, cost } }), "world");
    assert.equal(await (await ask("a")).text(), "hello world");
    assert.equal((await ask("a", "9")).status, 200);
    assert.equal((await ask("a")).status, 429);
    assert.equal((await ask("a", "1", "/health")).headers.get("RateLimit"), null);
    assert.equal((await ask("b")).status, 200);
    const never = await ask("b", "11");
    assert.deepEqual([never.status, never.headers.get("Retry-After")], [429, null]);
  });

  it("finds the client where Deno and Bun tell of it", async () => {
    const handler = rateLimit<readonly unknown[]>(() => new Response(), {
      ...options(),
      policies: { name: "one", limit: 1, windowMs: 1000 },
    });
    const deno = (hostname: string) => handler(new Request("https://example.com"), { remoteAddr: { hostname } });
    assert.deepEqual([(await deno("1.2.3.4")).status, (await deno("::ffff:1.2.3.4")).status], [200, 429]);
    const bun = { requestIP: () => ({ address: "1.2.3.5" }) };
    assert.equal((await handler(new Request("https://example.com"), bun)).status, 200);
    await assert.rejects(handler(new Request("https://example.com")), { code: "INVALID_ARGUMENT" });
  });

  it("limits every kind of answer of Hono's, with its own numbers", async () => {
    const app = new Hono().use(forHono.rateLimit({ ...options(), key: () => "k" }));
    app.get("/context", (context) => context.text("hello"));
    app.get("/raw", () => new Response("hello"));
    app.get("/proxied", () => new Response("hello", { headers: { RateLimit: '"theirs";r=1;t=1' } }));
    app.get("/broken", () => {
      throw new Error("sorry");
    });
    app.onError((_, context) => context.text("sorry", 500));
    for (const [path, remaining, status] of [
      ["/context", 9, 200],
      ["/raw", 8, 200],
      ["/proxied", 7, 200],
      ["/broken", 6, 500],
      ["/nowhere", 5, 404],
    ] as const) {
      const response = await app.request(path);
      const field = response.headers.get("RateLimit") ?? "";
      assert.deepEqual([response.status, field.split(";")[1]], [status, `r=${remaining}`], path);
      assert.equal(response.headers.get("X-RateLimit-Limit"), "10");
    }
  });

  it("leaves a response of Hono's alone that can't be made anew, as one that upgrades to a WebSocket", async () => {
    const upgrade = Object.create(Response.prototype, { status: { value: 101 }, headers: { value: new Headers() } });
    const app = new Hono().use(forHono.rateLimit({ ...options(), key: () => "k" })).get("/", () => upgrade);
    assert.equal(await app.request("/"), upgrade);
  });

  it("wraps a route handler of Next", async () => {
    const GET = limitRoute(async (_request, { params }: { params: { id: string } }) => Response.json(params), {
      ...options(),
      key: () => "k",
    });
    const response = await GET(new Request("https://example.com"), { params: { id: "7" } });
    assert.deepEqual(await response.json(), { id: "7" });
  });

  it("does what it was told to when the store is down, with no made-up numbers", async () => {
    const store = new HotKV({ url: "hotkv://127.0.0.1:1", timeoutMs: 200 });
    const ask = (onUnavailable: "throw" | "allow" | "deny") =>
      rateLimit(() => new Response(), { store, policies, key: () => "k", onUnavailable })(
        new Request("https://example.com"),
      );
    await assert.rejects(ask("throw"), { code: "STORE_UNAVAILABLE" });
    const allowed = await ask("allow");
    assert.deepEqual([allowed.status, allowed.headers.get("RateLimit")], [200, null]);
    const denied = await ask("deny");
    assert.deepEqual([denied.status, denied.headers.get("RateLimit")], [503, null]);
    await store.close();
  });
});

it("what goes wrong after Express' request was decided is the application's to know, and no crash", async () => {
  const boom = new Error("boom");
  for (const onDenied of [
    () => {
      throw boom;
    },
    () => Promise.reject(boom),
  ]) {
    const middleware = forExpress.rateLimit({
      ...options(),
      key: () => "k",
      cost: () => 11,
      onDenied: () => onDenied(),
    });
    const response = { setHeader() {} } as unknown as express.Response;
    assert.equal(await new Promise((resolve) => middleware({} as express.Request, response, resolve)), boom);
  }
  const sent = {
    setHeader() {
      throw boom;
    },
  } as unknown as express.Response;
  const middleware = forExpress.rateLimit({ ...options(), key: () => "k" });
  assert.equal(await new Promise((resolve) => middleware({} as express.Request, sent, resolve)), boom);
});
