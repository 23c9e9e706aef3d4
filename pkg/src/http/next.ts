/**
 * Rate limits for route handlers of Next.js.
 *
 * @module tidegate/next
 */

import { type FetchOptions, type Handler, rateLimit } from "./fetch.ts";

export type { FetchOptions, HttpPolicy } from "./fetch.ts";

/** A route handler of Next.js: the request, and the route's parameters. */
export type RouteHandler<Context> = Handler<readonly [context: Context]>;

/** Options of {@link limitRoute}. A route handler is not told the socket's address, so it must say whose budget it is. */
export type RouteOptions = FetchOptions & Required<Pick<FetchOptions, "key">>;

/**
 * Wraps a Next.js route handler.
 *
 * ```ts
 * // app/api/search/route.ts
 * import { HotKV } from "tidegate";
 * import { limitRoute } from "tidegate/next";
 *
 * export const GET = limitRoute(async () => Response.json({ found: 3 }), {
 *   store: new HotKV(),
 *   policies: { name: "search", limit: 10, windowMs: 60_000 },
 *   key: (request) => request.headers.get("x-api-key") ?? "nobody",
 * });
 * ```
 */
export function limitRoute<Context>(handler: RouteHandler<Context>, options: RouteOptions) {
  return rateLimit(handler, options);
}
