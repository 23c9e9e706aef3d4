import { rateLimit } from "tidegate/fetch";
import { HotKV, type HotKVOptions, TidegateObject } from "tidegate/workers";

// wrangler finds the class of the binding here.
export { TidegateObject };

interface Env {
  readonly TIDEGATE: HotKVOptions["binding"];
}

/** Your application. */
function handle(request: Request): Response {
  return new Response(`hello from ${new URL(request.url).pathname}\n`);
}

/** The application behind its limits. */
function limit(env: Env): (request: Request) => Promise<Response> {
  return rateLimit(handle, {
    store: new HotKV({ binding: env.TIDEGATE, namespace: "api" }),
    policies: [
      { name: "burst", limit: 10, windowMs: 10_000 },
      { name: "daily", limit: 1000, windowMs: 86_400_000 },
    ],
    // By API key where there is one; else by address, which Cloudflare puts into this header.
    key: ({ headers }) => headers.get("X-API-Key") ?? `address ${headers.get("CF-Connecting-IP")}`,
    skip: (request) => new URL(request.url).pathname === "/health",
    onUnavailable: "allow",
  });
}

// Made once for each isolate, which remembers whom it refused.
let limited: ReturnType<typeof limit> | undefined;

export default {
  fetch(request: Request, env: Env): Promise<Response> {
    limited ??= limit(env);
    return limited(request);
  },
};
