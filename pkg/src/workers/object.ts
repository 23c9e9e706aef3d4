import { DurableObject } from "cloudflare:workers";
import storeModule from "../../wasm/store_bg.wasm";
import { isPositive } from "../arguments.ts";
import { Durable } from "../store/durable.ts";
import { setStoreSource } from "../store/module.ts";

setStoreSource(() => storeModule);

/** Rows looked at by one alarm. */
const SWEEP_ROWS = 1000;

/** Thirty years. The platform counts an alarm's time in nanoseconds, and can't say one that is hundreds of years away. */
const LONGEST_WAIT_MS = 1e12;

/** RESP on its way: text, which a call carries several times as fast as bytes, or bytes where they spell none. */
export type Wire = string | Uint8Array;

/** What an object answers when it could not run the commands. */
export interface Unavailable {
  /** What happened, for people. */
  readonly unavailable: string;
}

/**
 * The Durable Object that holds budgets. Export it from your Worker and bind it under any name, with SQLite storage:
 *
 * ```ts
 * export { TidegateObject } from "tidegate/workers";
 * ```
 * ```toml
 * durable_objects.bindings = [{ name = "TIDEGATE", class_name = "TidegateObject" }]
 * migrations = [{ tag = "v1", new_sqlite_classes = ["TidegateObject"] }]
 * ```
 *
 * Talk to it through {@link HotKV}, which knows which object a key is in. The variable `TIDEGATE_MAX_LIMITERS` sets how many
 * named limiters a namespace may have; 10,000 without it.
 */
export class TidegateObject<Env = unknown> extends DurableObject<Env> {
  readonly #durable: Durable;
  /** When the alarm is due, by `Date.now`; `null` when there is none, `undefined` when that is not known yet. */
  #alarm: number | null | undefined;
  #savesDenials = false;

  /**
   * The runtime makes objects.
   *
   * @internal
   */
  constructor(ctx: ConstructorParameters<typeof DurableObject<Env>>[0], env: Env) {
    super(ctx, env);
    this.#durable = new Durable(ctx.storage.sql, { maxLimiters: maxLimiters(env) });
  }

  /** Runs RESP commands, as text or bytes; their replies, once what they changed is stored. */
  execute(commands: Wire): Wire | Unavailable | Promise<Wire | Unavailable> {
    try {
      const replies = this.#durable.callWire(this.now(), commands);
      this.#saveDenialsInTime();
      return this.#armed(replies);
    } catch (error) {
      return unavailable(error);
    }
  }

  /**
   * `GCRA.LIMIT` alone, of `"PERIOD BURST COUNT KEY"`, for less than {@link TidegateObject.execute} of it, since one text is what
   * a call carries for least. JSON of the integers that it replies, without its brackets where one of them is past 2^53, or its
   * error, which begins with a capital letter.
   */
  gcraLimit(ask: string): string | Unavailable | Promise<string | Unavailable> {
    try {
      return this.#armed(this.#durable.gcraLimit(this.now(), ask));
    } catch (error) {
      return unavailable(error);
    }
  }

  /** `RATELIMIT.CHECK` alone, of a limiter and `"COST KEY"`, as {@link TidegateObject.gcraLimit}. */
  rateLimitCheck(name: string, ask: string): string | Unavailable | Promise<string | Unavailable> {
    try {
      const reply = this.#durable.rateLimitCheck(this.now(), name, ask);
      this.#saveDenialsInTime();
      return this.#armed(reply);
    } catch (error) {
      return unavailable(error);
    }
  }

  /** Deletes what has expired, a bounded number of rows at a time, and comes again when there is more. */
  override async alarm(): Promise<void> {
    this.#alarm = null;
    const now = this.now();
    const next = this.#durable.sweep(now, SWEEP_ROWS);
    if (next === 0) {
      const deleted = this.ctx.storage.deleteAll();
      this.#durable.cleared();
      await deleted;
      await this.ctx.storage.deleteAlarm();
    } else if (next !== undefined) {
      await this.#setAlarm(next - now);
    }
  }

  /** The object's clock. */
  protected now(): number {
    return Date.now();
  }

  /** Lets go of the memory, having saved what a clean end saves: for tests of what a new object finds. */
  protected closeEngine(): void {
    this.#durable.close();
  }

  /** `replies`, once an alarm is set for what they made expire. */
  #armed<T>(replies: T): T | Promise<T> {
    if (typeof this.#alarm === "number") return replies;
    const earliest = this.#durable.takeEarliest();
    return earliest === undefined ? replies : this.#arm(earliest).then(() => replies);
  }

  /** Sets the alarm for `earliest`, unless one is set: at most one, and one write for many admissions. */
  async #arm(earliest: number): Promise<void> {
    this.#alarm ??= await this.ctx.storage.getAlarm();
    if (this.#alarm === null) await this.#setAlarm(earliest - this.now());
  }

  async #setAlarm(wait: number): Promise<void> {
    this.#alarm = Date.now() + Math.min(Math.max(wait, 1), LONGEST_WAIT_MS);
    await this.ctx.storage.setAlarm(this.#alarm);
  }

  #saveDenialsInTime(): void {
    if (this.#savesDenials || this.#durable.denialsDue() === undefined) return;
    this.#savesDenials = true;
    setTimeout(() => {
      this.#savesDenials = false;
      try {
        this.#durable.saveDenials();
      } catch {
        // The next call finds out, and builds anew.
      }
    }, 10_000);
  }
}

function maxLimiters(env: unknown): number | undefined {
  const limit = Number(Object(env).TIDEGATE_MAX_LIMITERS);
  return isPositive(limit) ? limit : undefined;
}

function unavailable(error: unknown): Unavailable {
  return { unavailable: `the object's engine failed, and is built anew by the next call: ${String(error)}` };
}
