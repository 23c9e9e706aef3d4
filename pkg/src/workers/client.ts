import { assertFields, assertInteger, assertName, assertOneOf, assertRemote, invalidArgument } from "../arguments.ts";
import { Client, type UnavailableOptions } from "../hotkv.ts";
import type { Rate, ValveOptions } from "../valve/index.ts";
import { ValveBase } from "../valve/valve.ts";
import { type ObjectsOptions, ObjectsTransport } from "./transport.ts";

export { HotKVError, type HotKVErrorDetails } from "../errors.ts";
export type { Client } from "../hotkv.ts";
export type { Argument, Command, Reply } from "../reply.ts";
export type * from "../results.ts";
export * from "../valve/index.ts";
export type { Placement } from "./placement.ts";
export type { ObjectId, ObjectNamespace, ObjectsOptions } from "./transport.ts";

const FIELDS = [
  "binding",
  "namespace",
  "placement",
  "locationHint",
  "jurisdiction",
  "timeoutMs",
  "denyCacheMs",
  "onUnavailable",
];

/** Where a {@link HotKV} of a Worker keeps its budgets. */
export interface HotKVOptions extends ObjectsOptions, UnavailableOptions {}

/**
 * HotKV's client over Durable Objects: one budget for the whole edge.
 *
 * ```ts
 * const client = new HotKV({ binding: env.TIDEGATE, namespace: "prod" });
 * const result = await client.gcraLimit("api:user:42", 60000, 10);
 * if (result.denied) return new Response("slow down", { status: 429 });
 * ```
 */
export class HotKV extends Client {
  constructor(options: HotKVOptions) {
    assertFields(options, FIELDS);
    const { binding, namespace = "default", placement = "tag", denyCacheMs = 0 } = options;
    if (binding === null || typeof binding !== "object" || typeof binding.idFromName !== "function") {
      throw invalidArgument("binding", binding, "a Durable Object binding, such as env.TIDEGATE");
    }
    assertName("namespace", namespace);
    assertOneOf("placement", placement, ["tag", "slot"]);
    assertRemote(options);
    assertInteger("denyCacheMs", denyCacheMs, invalidArgument, 0);
    super(() => ({ transport: new ObjectsTransport(options) }), options);
  }
}

/** Paces jobs against a policy that every worker of a namespace shares, in the store it is given. */
export class Valve<const R extends Rate> extends ValveBase<R> {
  constructor(options: ValveOptions<R>) {
    super(options, () => {
      throw invalidArgument("store", undefined, "a HotKV client");
    });
  }
}
