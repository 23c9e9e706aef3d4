// The servers that are measured: each framework with no limiter, with Tidegate's, and with the one its users take. The limits are
// too high to refuse, each client is known by its address, and all send rate limit headers: what is measured is what an answer costs.

import { createServer } from "node:http";
import { createRequire } from "node:module";

const peers = createRequire(new URL("../peers/package.json", import.meta.url));
const LIMIT = 1_000_000_000;
const WINDOW = 60_000;

async function tidegate(framework) {
  const { HotKV } = await import("tidegate");
  const { rateLimit } = await import(`tidegate/${framework}`);
  return [rateLimit, { store: new HotKV(), policies: { name: "api", limit: LIMIT, windowMs: WINDOW } }];
}

async function express(load, limiter) {
  const { default: express } = await load();
  const app = express();
  if (limiter) app.use(limiter);
  app.get("/", (_, response) => void response.send("hello"));
  return listening(createServer(app));
}

async function tidegateExpress() {
  const [rateLimit, options] = await tidegate("express");
  return rateLimit(options);
}

async function expressRateLimit() {
  const { rateLimit } = await import("express-rate-limit");
  return rateLimit({ windowMs: WINDOW, limit: LIMIT, standardHeaders: "draft-8", legacyHeaders: false });
}

async function fastify(limit) {
  const { default: fastify } = await import("fastify");
  const app = fastify();
  await limit?.(app);
  app.get("/", () => "hello");
  await app.listen({ port: 0, host: "127.0.0.1" });
  return app.server.address().port;
}

async function hono(limiter) {
  const { Hono } = await import("hono");
  const { serve } = await import("@hono/node-server");
  const app = new Hono();
  if (limiter) app.use(limiter);
  app.get("/", (context) => context.text("hello"));
  return new Promise((resolve) =>
    serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => resolve(port)),
  );
}

function listening(server) {
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server.address().port)));
}

const express5 = () => import("express");
const express4 = () => import("express4");

/** By framework and limiter: starts the server; its port. */
export const subjects = {
  "Express 5": {
    none: () => express(express5),
    tidegate: async () => express(express5, await tidegateExpress()),
    "express-rate-limit": async () => express(express5, await expressRateLimit()),
  },
  "Express 4": {
    none: () => express(express4),
    tidegate: async () => express(express4, await tidegateExpress()),
    "express-rate-limit": async () => express(express4, await expressRateLimit()),
  },
  Fastify: {
    none: () => fastify(),
    tidegate: () =>
      fastify(async (app) => {
        const [rateLimit, options] = await tidegate("fastify");
        rateLimit(app, options);
      }),
    "@fastify/rate-limit": () =>
      fastify(async (app) => {
        const { default: limit } = await import(peers.resolve("@fastify/rate-limit"));
        await app.register(limit, { max: LIMIT, timeWindow: WINDOW, enableDraftSpec: true });
      }),
  },
  Hono: {
    none: () => hono(),
    tidegate: async () => {
      const [rateLimit, options] = await tidegate("hono");
      return hono(rateLimit(options));
    },
    "hono-rate-limiter": async () => {
      const { rateLimiter } = await import("hono-rate-limiter");
      const keyGenerator = ({ env }) => env.incoming.socket.remoteAddress;
      return hono(rateLimiter({ windowMs: WINDOW, limit: LIMIT, standardHeaders: "draft-7", keyGenerator }));
    },
  },
};

// Started by run.mjs as a process of its own, which tells its port, and its CPU time when it is asked.
const [framework, limiter] = process.argv.slice(2);
if (process.send) {
  const port = await subjects[framework][limiter]();
  process.on("message", () => {
    const { user, system } = process.cpuUsage();
    process.send({ cpu: user + system });
  });
  process.send({ port });
}
