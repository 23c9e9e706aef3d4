import { isPositive } from "../arguments.ts";
import type { Command, Reply } from "../reply.ts";
import { textOf } from "./placement.ts";
import { nameOf } from "./route.ts";

/** The most refusals that are remembered; the oldest goes first. */
const MOST = 1000;

/** A refusal by `GCRA.LIMIT`. */
interface Denial {
  readonly period: number;
  readonly burst: number;
  readonly count: number;
  /** When it was asked, before it was answered: a promise kept from then on is kept soon enough. */
  readonly at: number;
  readonly until: number;
  readonly remaining: number;
  readonly retryAfterMs: number;
  readonly resetAfterMs: number;
}

/**
 * Refusals that are still true: the same ask, or a dearer one, is refused here without asking again. Plain numbers only, so
 * that requests may share it. What anybody else resets is noticed when the entry is over, after `denyCacheMs` at most.
 */
export class DenialCache {
  readonly #denials = new Map<string, Denial>();
  /** Counted up by whatever may end a refusal; an answer that was asked for before is not remembered. */
  #epoch = 0;

  get epoch(): number {
    return this.#epoch;
  }

  /** The refusal of `command` that is known, as its reply. */
  answer(command: Command, now: number): Reply | undefined {
    if (nameOf(command) !== "GCRA.LIMIT") {
      this.#forget(command);
      return undefined;
    }
    if (this.#denials.size === 0) return undefined;
    const ask = askOf(command);
    if (ask === undefined) return undefined;
    const known = this.#denials.get(ask.key);
    if (known === undefined || known.period !== ask.period || known.burst !== ask.burst || ask.count < known.count) {
      return undefined;
    }
    if (now >= known.until || now < known.at) {
      this.#denials.delete(ask.key);
      return undefined;
    }
    const passed = now - known.at;
    const { period, burst } = ask;
    const resetAfterMs = known.resetAfterMs - passed;
    // A dearer ask waits for the more that it wants; of a fraction of a millisecond, a whole one.
    const dearer = Math.ceil(((ask.count - known.count) * period) / burst);
    const retryAfterMs = ask.count > burst ? -1 : known.retryAfterMs - passed + dearer;
    const refilled = ((period - resetAfterMs) * burst) / period;
    const remaining = Math.min(Math.max(known.remaining, Math.floor(refilled)), known.count - 1);
    return [1, burst, remaining, retryAfterMs, resetAfterMs];
  }

  /** Remembers `reply` when it is a refusal; the command was asked at `at`, in `epoch`. */
  note(command: Command, reply: Reply, at: number, epoch: number, denyCacheMs: number): void {
    if (!Array.isArray(reply) || reply[0] !== 1 || epoch !== this.#epoch) return;
    const ask = askOf(command);
    if (ask === undefined) return;
    const [, , remaining, retryAfterMs, resetAfterMs] = reply as readonly number[];
    if (remaining === undefined || retryAfterMs === undefined || resetAfterMs === undefined) return;
    if (retryAfterMs <= 0) return;
    const until = at + Math.min(retryAfterMs, denyCacheMs);
    this.#denials.delete(ask.key);
    this.#denials.set(ask.key, { ...ask, at, until, remaining, retryAfterMs, resetAfterMs });
    if (this.#denials.size > MOST) this.#denials.delete(this.#denials.keys().next().value as string);
  }

  /** Whatever else is done to a key may end its refusal. */
  #forget(command: Command): void {
    if (KEEPS.has(nameOf(command))) return;
    this.#epoch++;
    // A key may be bytes that spell one which was refused as text.
    for (const key of command.slice(1)) this.#denials.delete(textOf(key) ?? "");
  }
}

/** Commands that leave every key as it is, or are about no key. */
const KEEPS = new Set([
  "GET",
  "TYPE",
  "TTL",
  "PTTL",
  "EXISTS",
  "PING",
  "ECHO",
  "TIME",
  "INFO",
  "COMMAND",
  "RATELIMIT.CHECK",
]);

/** What a `GCRA.LIMIT` with plain arguments asks. */
function askOf(command: Command): { key: string; period: number; burst: number; count: number } | undefined {
  if (nameOf(command) !== "GCRA.LIMIT" || command.length < 4 || command.length > 5) return undefined;
  const [, key, ...numbers] = command;
  const [period = 0, burst = 0, count = 1] = numbers.map(Number);
  return typeof key === "string" && [period, burst, count].every(isPositive)
    ? { key, period, burst, count }
    : undefined;
}
