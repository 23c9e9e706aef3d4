/**
 * Budgets in Durable Objects, for a Cloudflare Worker that binds {@link TidegateObject}.
 *
 * @module tidegate/workers
 */

export * from "./client.ts";
export { TidegateObject, type Unavailable, type Wire } from "./object.ts";
