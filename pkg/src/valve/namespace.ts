import { HotKVError } from "../errors.ts";
import type { Argument, Reply } from "../reply.ts";
import { type BlockedBy, ValveError } from "./errors.ts";
import { type Asked, blockedBy, type Policy } from "./policy.ts";
import type { Store } from "./types.ts";

/** Why a job may not start yet. */
export interface Refusal {
  readonly retryAfterMs: number;
  readonly blockedBy: readonly BlockedBy[];
}

/** The policy of a namespace in its store: what a valve asks there, and what the answers mean. What fails is a `ValveError`. */
export class Namespace {
  readonly #store: Store;
  readonly #name: string;
  readonly #policy: Policy;
  #fingerprint: string | undefined;

  constructor(store: Store, name: string, policy: Policy) {
    this.#store = store;
    this.#name = name;
    this.#policy = policy;
  }

  /** Asks for the same once for each lease, in one go, and defines the policy when the store has none yet. */
  async admit(
    { cost, scope }: Asked,
    leases: readonly (string | undefined)[],
    ...more: readonly Argument[]
  ): Promise<readonly Reply[]> {
    const identities = scope.flatMap((identity, at) => ["SCOPE", this.#policy.dimensions[at] ?? "", identity]);
    for (let defined = false; ; defined = true) {
      this.#fingerprint ??= String(await this.command("VALVE.DEFINE", this.#policy.json));
      const fingerprint = this.#fingerprint;
      const replies = await this.#send(
        leases.map((lease) => [
          "VALVE.ADMIT",
          this.#name,
          fingerprint,
          cost,
          ...identities,
          ...(lease ? ["LEASE", lease] : []),
          ...more,
        ]),
      );
      const [first] = replies;
      if (defined || !(first instanceof HotKVError) || first.code !== "NOPOLICY") return replies;
      this.#fingerprint = undefined;
    }
  }

  /** Why a job, or the next one of several, was refused; `undefined` when it was admitted. */
  refusalIn(reply: Reply | undefined): Refusal | undefined {
    if (reply instanceof Error) throw translated(reply);
    const [allowed, retryAfterMs, blocked] = reply as readonly [number, number, readonly number[]];
    if (allowed > 0 && blocked.length === 0) return undefined;
    const { order, rules } = this.#policy;
    const refused = blocked.map((at) => blockedBy(rules, order[at] ?? -1));
    return { retryAfterMs, blockedBy: refused.sort((a, b) => a.index - b.index) };
  }

  /** Runs one command on the namespace. */
  async command(name: string, ...args: readonly Argument[]): Promise<Reply | undefined> {
    const [reply] = await this.#send([[name, this.#name, ...args]]);
    if (reply instanceof Error) throw translated(reply);
    return reply;
  }

  /** Forgets the policy, here and in the store. */
  async forget(): Promise<void> {
    await this.command("VALVE.FORGET");
    this.#fingerprint = undefined;
  }

  async #send(commands: readonly (readonly [string, ...Argument[]])[]): Promise<readonly Reply[]> {
    try {
      return await this.#store.pipeline(commands);
    } catch (error) {
      throw translated(error);
    }
  }
}

/** An error of the store as one of the valve. */
function translated(error: unknown): unknown {
  if (!(error instanceof HotKVError)) return error;
  const { code, message } = error;
  if (code === "INVALID_OPTIONS" || code === "COST_EXCEEDS_LIMIT") {
    const [inForce, fingerprint] = message.match(/\b[0-9a-f]{64}\b/g) ?? [];
    const fingerprints = inForce && fingerprint ? { inForce, fingerprint } : {};
    return new ValveError(code, message.slice(code.length + 1), { ...fingerprints, cause: error });
  }
  return new ValveError("STORE_UNAVAILABLE", `the store failed: ${message}`, { cause: error });
}
