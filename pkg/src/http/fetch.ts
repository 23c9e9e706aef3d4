/**
 * Middleware for handlers of web requests (Workers, Deno, Bun), and what clients read of its headers.
 *
 * @module tidegate/fetch
 */

import { assertFunctions } from "../arguments.ts";
import { type AddressOptions, clientKey } from "./client.ts";
import { createGuard, type GuardOptions, type Problem, type Verdict } from "./guard.ts";

export { addressKey } from "./address.ts";
export type { AddressOptions } from "./client.ts";
export type { GuardOptions, HttpPolicy, Problem } from "./guard.ts";
export { type ParsedRateLimit, parseRateLimit, type QuotaPolicy, type QuotaState } from "./headers.ts";

/** Options of {@link rateLimit}. */
export interface FetchOptions extends GuardOptions<Request>, AddressOptions {
  /** Makes the answer to a refused request; problem details by default. The headers must be sent either way. */
  readonly onDenied?: (request: Request, problem: Problem, headers: Headers) => Response | Promise<Response>;
}

/** Any handler of web requests, with what the runtime passes beside the request. */
export type Handler<Rest extends readonly unknown[]> = (
  request: Request,
  ...rest: Rest
) => Response | Promise<Response>;

/**
 * Wraps a handler of web requests, as Workers, `Deno.serve` and `Bun.serve` take it, so that each client keeps to the
 * policies.
 *
 * ```ts
 * import { HotKV } from "tidegate";
 * import { rateLimit } from "tidegate/fetch";
 *
 * const handler = rateLimit(() => new Response("hello"), {
 *   store: new HotKV(),
 *   policies: { name: "burst", limit: 10, windowMs: 60_000 },
 *   key: (request) => request.headers.get("authorization") ?? "nobody",
 * });
 * const response = await handler(new Request("https://example.com"));
 * console.log(response.headers.get("RateLimit")); // "burst";r=9;t=6
 * ```
 */
export function rateLimit<Rest extends readonly unknown[]>(
  handler: Handler<Rest>,
  options: FetchOptions,
): (request: Request, ...rest: Rest) => Promise<Response> {
  const { onDenied = problemResponse } = options;
  const key = clientKey(options);
  // Deno and Bun pass the socket beside the request, so the guard decides on both.
  type Arrival = { readonly request: Request; readonly rest: readonly unknown[] };
  const guard = createGuard<Arrival>(arrivalOptions(options), ({ request, rest }) =>
    key(socketAddress(request, rest[0]), (name) => request.headers.get(name)),
  );
  return async (request, ...rest) => {
    const verdict = await guard({ request, rest });
    if (verdict === undefined) return handler(request, ...rest);
    if (verdict.problem === undefined) return withHeaders(await handler(request, ...rest), verdict);
    return onDenied(request, verdict.problem, new Headers(verdict.headers));
  };
}

/** The options, asked with the request alone. */
function arrivalOptions({ key, cost, skip, ...rest }: FetchOptions): GuardOptions<{ readonly request: Request }> {
  assertFunctions({ key, cost, skip });
  return {
    ...rest,
    ...(key && { key: ({ request }) => key(request) }),
    ...(cost && { cost: ({ request }) => cost(request) }),
    ...(skip && { skip: ({ request }) => skip(request) }),
  };
}

/**
 * A response with the verdict's headers. One that came from `fetch` can't be changed, so it is made anew.
 *
 * @internal
 */
export function withHeaders(response: Response, { headers }: Verdict): Response {
  // What upgrades to a WebSocket is no response with a body, and in Deno it counts only as it is.
  if (response.status < 200) return response;
  const changed = new Response(response.body, response);
  for (const [name, value] of Object.entries(headers)) changed.headers.set(name, value);
  return changed;
}

/**
 * Problem details as a response.
 *
 * @internal
 */
export function problemResponse(_request: unknown, problem: Problem, headers: Headers): Response {
  headers.set("Content-Type", "application/problem+json");
  return new Response(JSON.stringify(problem), { status: problem.status, headers });
}

/** The socket's address from what `Deno.serve` or `Bun.serve` passes beside the request. */
function socketAddress(request: Request, beside: unknown): string | undefined {
  const { remoteAddr, requestIP } = (beside ?? {}) as {
    readonly remoteAddr?: { readonly hostname?: string };
    readonly requestIP?: (request: Request) => { readonly address: string } | null;
  };
  if (typeof requestIP === "function") return requestIP.call(beside, request)?.address;
  return remoteAddr?.hostname;
}
