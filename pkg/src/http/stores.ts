/**
 * Stores for middleware that people have already: `express-rate-limit` and `hono-rate-limiter`.
 *
 * @module tidegate/stores
 */

import { assertFields, assertInteger, assertName, invalidArgument } from "../arguments.ts";
import { HotKVError } from "../errors.ts";
import type { Client } from "../hotkv.ts";
import type { Command, Reply } from "../reply.ts";

/** Options of {@link FixedWindowStore}. */
export interface FixedWindowStoreOptions {
  /** Where hits are counted. */
  readonly store: Client;
  /** Keeps the hits of different limiters apart; `"hits"` by default. Servers that share a budget share it. */
  readonly prefix?: string;
}

/** How a client stands in its window. */
export interface Hits {
  /** Requests in this window, refused ones included. */
  totalHits: number;
  /** When the next window begins. */
  resetTime: Date;
}

/**
 * Counts the hits of `express-rate-limit` and `hono-rate-limiter`, exactly, for all servers that share a store. It is a `Store`
 * of both libraries, which decide and answer as they always do.
 *
 * ```ts
 * import { rateLimit } from "express-rate-limit";
 * import { HotKV } from "tidegate";
 * import { FixedWindowStore } from "tidegate/stores";
 *
 * const store = new FixedWindowStore({ store: new HotKV() });
 * const middleware = rateLimit({ windowMs: 60_000, limit: 100, store });
 * ```
 *
 * Windows are aligned on the epoch, by the store's clock, and the same for all clients. Give each limiter a store of its own,
 * and a prefix where limiters count apart.
 */
export class FixedWindowStore {
  /** Hits counted here count everywhere, so the libraries know that this is no store of one process. */
  readonly localKeys = false;
  /** What keeps the hits of different limiters apart. */
  readonly prefix: string;
  readonly #store: Client;
  #windowMs = 0;

  /** Checks the options; the library calls {@link FixedWindowStore.init} before the first hit. */
  constructor(options: FixedWindowStoreOptions) {
    assertFields(options, ["store", "prefix"]);
    const { store, prefix = "hits" } = options;
    if (typeof store?.pipeline !== "function") throw invalidArgument("store", store, "a HotKV client");
    assertName("prefix", prefix);
    this.#store = store;
    this.prefix = prefix;
  }

  /** Takes the window's length from the library's options. */
  init(options: { readonly windowMs: number }): void {
    assertInteger("windowMs", options.windowMs);
    this.#windowMs = options.windowMs;
  }

  /** Counts a hit. */
  async increment(key: string): Promise<Hits> {
    // What is taken back counts apart, since a limiter only counts up.
    const [before, back, time] = await this.#ask(
      ["RATELIMIT.CHECK", this.#hits, key],
      ["RATELIMIT.PEEK", this.#back, key],
    );
    return this.#standing(used(before) + 1 - used(back), time);
  }

  /** Takes a hit back, if there is one in this window. */
  async decrement(key: string): Promise<void> {
    const standing = await this.get(key);
    if (standing !== undefined) await this.#ask(["RATELIMIT.CHECK", this.#back, key]);
  }

  /** How a client stands; `undefined` without hits. */
  async get(key: string): Promise<Hits | undefined> {
    const [hits, back, time] = await this.#ask(
      ["RATELIMIT.PEEK", this.#hits, key],
      ["RATELIMIT.PEEK", this.#back, key],
    );
    const { totalHits, resetTime } = this.#standing(used(hits) - used(back), time);
    return totalHits > 0 ? { totalHits, resetTime } : undefined;
  }

  /** Forgets a client's hits. */
  async resetKey(key: string): Promise<void> {
    await this.#ask(["RATELIMIT.RESET", this.#hits, key], ["RATELIMIT.RESET", this.#back, key]);
  }

  /** Forgets everyone's hits. */
  async resetAll(): Promise<void> {
    const replies = await this.#store.pipeline([this.#hits, this.#back].map((name) => ["RATELIMIT.DROP", name]));
    const failed = replies.find((reply) => reply instanceof Error && !isMissing(reply));
    if (failed !== undefined) throw failed;
  }

  /** The names hold the window, so that servers in the midst of a change count apart. */
  get #hits(): string {
    return `${this.prefix}:${this.#windowMs}`;
  }

  get #back(): string {
    return `${this.#hits}:back`;
  }

  /** Asks the store in one go; the last reply is its time. The first command makes the limiters when its own is not there. */
  async #ask(...commands: readonly Command[]): Promise<readonly Reply[]> {
    if (this.#windowMs === 0)
      throw new HotKVError("INVALID_ARGUMENT", "no limiter has called init() of this store yet");
    const ask = () => this.#store.pipeline([...commands, ["TIME"]]);
    let replies = await ask();
    if (isMissing(replies[0])) {
      const settings = [Number.MAX_SAFE_INTEGER, this.#windowMs, "ALGO", "fixed_window"] as const;
      // Another server may be faster; whether the limiters are there now, the next answer says.
      await this.#store.pipeline([this.#hits, this.#back].map((name) => ["RATELIMIT.CREATE", name, ...settings]));
      replies = await ask();
    }
    const failed = replies.find((reply, at) => reply instanceof Error && (at === 0 || !isMissing(reply)));
    if (failed !== undefined) throw failed;
    return replies;
  }

  #standing(totalHits: number, time: Reply | undefined): Hits {
    const [seconds, micros] = time as readonly [string, string];
    const now = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
    return { totalHits, resetTime: new Date(now - (now % this.#windowMs) + this.#windowMs) };
  }
}

/** The units in use that a limiter told of; none where there is no limiter. */
function used(reply: Reply | undefined): number {
  return reply instanceof Error ? 0 : ((reply as readonly number[])[4] ?? 0);
}

function isMissing(reply: Reply | undefined): boolean {
  return reply instanceof HotKVError && reply.message.includes("limiter not found");
}
