/**
 * Middleware for Hono.
 *
 * @module tidegate/hono
 */

import { type AddressOptions, clientKey } from "./client.ts";
import { problemResponse } from "./fetch.ts";
import { createGuard, type GuardOptions, type Problem } from "./guard.ts";

export type { AddressOptions } from "./client.ts";
export type { GuardOptions, HttpPolicy, Problem } from "./guard.ts";

/** What is used of Hono's context. */
export interface HonoContext {
  /** The request. */
  readonly req: {
    /** The web request itself. */
    readonly raw: Request;
    /** One of its headers. */
    header(name: string): string | undefined;
  };
  /** What the platform passes beside it. */
  readonly env: unknown;
  /** The answer. */
  readonly res: Response;
  /** Sets a header of the answer. */
  header(name: string, value: string): void;
}

/** Options of {@link rateLimit}. */
export interface HonoOptions<C extends HonoContext> extends GuardOptions<C>, AddressOptions {
  /** Makes the answer to a refused request; problem details by default. */
  readonly onDenied?: (context: C, problem: Problem, headers: Headers) => Response | Promise<Response>;
}

/**
 * Hono middleware that keeps each client to the policies.
 *
 * ```ts
 * import { Hono } from "hono";
 * import { HotKV } from "tidegate";
 * import { rateLimit } from "tidegate/hono";
 *
 * const app = new Hono();
 * app.use(
 *   rateLimit({
 *     store: new HotKV(),
 *     policies: { name: "burst", limit: 10, windowMs: 60_000 },
 *     key: (context) => context.req.header("authorization") ?? "nobody",
 *   }),
 * );
 * app.get("/", (context) => context.text("hello"));
 * const response = await app.request("/");
 * console.log(response.headers.get("RateLimit")); // "burst";r=9;t=6
 * ```
 */
export function rateLimit<C extends HonoContext>(
  options: HonoOptions<C>,
): (context: C, next: () => Promise<void>) => Promise<Response | undefined> {
  const { onDenied = problemResponse } = options;
  const address = clientKey(options);
  const guard = createGuard(options, (context: C) =>
    address(socketAddress(context), (name) => context.req.header(name)),
  );
  return async (context, next) => {
    const verdict = await guard(context);
    if (verdict?.problem) return onDenied(context, verdict.problem, new Headers(verdict.headers));
    const headers = Object.entries(verdict?.headers ?? {});
    // Set before, they are made with the response; after it, each would make another one.
    for (const [name, value] of headers) context.header(name, value);
    await next();
    // What upgrades to a WebSocket can't be made anew.
    if (context.res.status < 200) return undefined;
    // A response that the handler made without the context knows nothing of them.
    for (const [name, value] of headers) {
      if (context.res.headers.get(name) !== value) context.header(name, value);
    }
    return undefined;
  };
}

/** The socket's address where Hono's adapter for Node, Deno or Bun leaves it. */
function socketAddress({ env, req }: HonoContext): string | undefined {
  const { incoming, remoteAddr, requestIP, server } = (env ?? {}) as {
    readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
    readonly remoteAddr?: { readonly hostname?: string };
    readonly requestIP?: (request: Request) => { readonly address: string } | null;
    readonly server?: { requestIP(request: Request): { readonly address: string } | null };
  };
  if (typeof requestIP === "function") return requestIP.call(env, req.raw)?.address;
  return incoming?.socket?.remoteAddress ?? remoteAddr?.hostname ?? server?.requestIP(req.raw)?.address;
}
