/**
 * Middleware for Express 4 and 5, and anything else that takes `(request, response, next)`.
 *
 * @module tidegate/express
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { type AddressOptions, clientKey } from "./client.ts";
import { createGuard, type GuardOptions, type Problem } from "./guard.ts";

export type { AddressOptions } from "./client.ts";
export type { GuardOptions, HttpPolicy, Problem } from "./guard.ts";

/** Options of {@link rateLimit}. */
export interface ExpressOptions<Q extends IncomingMessage, S extends ServerResponse>
  extends GuardOptions<Q>,
    AddressOptions {
  /** Answers a refused request; problem details by default. Status and headers are set already. */
  readonly onDenied?: (request: Q, response: S, problem: Problem) => void;
}

/**
 * Middleware for Express 4 and 5, and anything else that takes `(request, response, next)`, that keeps each client to the
 * policies.
 *
 * ```ts
 * import express from "express";
 * import { HotKV } from "tidegate";
 * import { rateLimit } from "tidegate/express";
 *
 * const app = express();
 * app.use(rateLimit({ store: new HotKV(), policies: { name: "burst", limit: 10, windowMs: 60_000 } }));
 * app.get("/", (request, response) => response.send("hello"));
 * ```
 */
export function rateLimit<Q extends IncomingMessage, S extends ServerResponse>(
  options: ExpressOptions<Q, S>,
): (request: Q, response: S, next: (error?: unknown) => void) => void {
  const { onDenied = sendProblem } = options;
  const guard = createGuard(options, nodeKey(options));
  return (request, response, next) => {
    guard(request).then((verdict) => {
      // What goes wrong here, headers that something else sent meanwhile for one, is the application's to know.
      try {
        for (const [name, value] of Object.entries(verdict?.headers ?? {})) response.setHeader(name, value);
        if (verdict?.problem !== undefined) {
          response.statusCode = verdict.problem.status;
          const answered: unknown = onDenied(request, response, verdict.problem);
          if (answered instanceof Promise) answered.catch(next);
          return;
        }
      } catch (error) {
        next(error);
        return;
      }
      next();
    }, next);
  };
}

/**
 * The key of a Node request's client.
 *
 * @internal
 */
export function nodeKey(options: AddressOptions): (request: IncomingMessage) => string {
  const key = clientKey(options);
  return ({ socket, headers }) =>
    key(socket.remoteAddress, (name) => {
      const value = headers[name.toLowerCase()];
      return Array.isArray(value) ? value.join(",") : value;
    });
}

function sendProblem(_request: IncomingMessage, response: ServerResponse, problem: Problem): void {
  response.setHeader("Content-Type", "application/problem+json");
  response.end(JSON.stringify(problem));
}
