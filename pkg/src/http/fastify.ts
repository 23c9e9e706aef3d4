/**
 * Rate limits for Fastify.
 *
 * @module tidegate/fastify
 */

import type { IncomingMessage } from "node:http";
import type { AddressOptions } from "./client.ts";
import { nodeKey } from "./express.ts";
import { createGuard, type GuardOptions, type Problem } from "./guard.ts";

export type { AddressOptions } from "./client.ts";
export type { GuardOptions, HttpPolicy, Problem } from "./guard.ts";

/** What is used of Fastify's request. */
export interface FastifyRequestLike {
  /** Node's request. */
  readonly raw: IncomingMessage;
}

/** What is used of Fastify's reply. */
export interface FastifyReplyLike {
  /** Sets the status. */
  code(status: number): this;
  /** Sets a header. */
  header(name: string, value: string): this;
  /** Answers. */
  send(payload: unknown): this;
}

/** What is used of Fastify's instance. */
export interface FastifyInstanceLike<Q, P> {
  /** Runs `hook` before each request's handler. */
  addHook(name: "onRequest", hook: (request: Q, reply: P) => Promise<unknown>): unknown;
}

/** Options of {@link rateLimit}. */
export interface FastifyOptions<Q extends FastifyRequestLike, P> extends GuardOptions<Q>, AddressOptions {
  /** Answers a refused request; problem details by default. Status and headers are set already. */
  readonly onDenied?: (request: Q, reply: P, problem: Problem) => unknown;
}

/**
 * Keeps each client of a Fastify instance, or of the part of it that this is called on, to the policies.
 *
 * ```ts
 * import Fastify from "fastify";
 * import { HotKV } from "tidegate";
 * import { rateLimit } from "tidegate/fastify";
 *
 * const app = Fastify();
 * rateLimit(app, { store: new HotKV(), policies: { name: "burst", limit: 10, windowMs: 60_000 } });
 * app.get("/", async () => "hello");
 * const { headers } = await app.inject("/");
 * console.log(headers.ratelimit); // "burst";r=9;t=6
 * ```
 */
export function rateLimit<Q extends FastifyRequestLike, P extends FastifyReplyLike>(
  app: FastifyInstanceLike<Q, P>,
  options: FastifyOptions<Q, P>,
): void {
  const { onDenied = sendProblem } = options;
  const key = nodeKey(options);
  const guard = createGuard<Q>(options, ({ raw }) => key(raw));
  app.addHook("onRequest", async (request, reply) => {
    const verdict = await guard(request);
    for (const [name, value] of Object.entries(verdict?.headers ?? {})) reply.header(name, value);
    if (verdict?.problem === undefined) return undefined;
    reply.code(verdict.problem.status);
    await onDenied(request, reply, verdict.problem);
    return reply;
  });
}

function sendProblem(_request: FastifyRequestLike, reply: FastifyReplyLike, problem: Problem): unknown {
  return reply.header("Content-Type", "application/problem+json").send(JSON.stringify(problem));
}
