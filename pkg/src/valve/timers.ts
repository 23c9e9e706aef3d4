import { LONGEST_TIMER_MS } from "../arguments.ts";

/** The time and the timer that a valve lives by; the runtime's own unless a test brings others. */
export interface Timers {
  /** Milliseconds, rising steadily. */
  now(): number;
  /** Calls `wake` after at least `ms` milliseconds; the handle cancels it. */
  set(wake: () => void, ms: number): unknown;
  /** Cancels a timer. */
  clear(handle: unknown): void;
}

/** A time that does not come. */
export const NEVER = Number.POSITIVE_INFINITY;

export const systemTimers: Timers = {
  now: () => performance.now(),
  set: (wake, ms) => setTimeout(wake, ms),
  clear: (handle) => clearTimeout(handle as ReturnType<typeof setTimeout>),
};

/** One alarm clock: it has at most one timer, and none when nobody waits. */
export class Alarm {
  readonly #timers: Timers;
  readonly #ring: () => void;
  #handle: unknown;
  #due = NEVER;

  constructor(timers: Timers, ring: () => void) {
    this.#timers = timers;
    this.#ring = ring;
  }

  /** Rings at `due`, and no longer when it was set for before; `Infinity` never rings. */
  set(due: number): void {
    if (due === this.#due) return;
    this.#due = due;
    if (this.#handle !== undefined) this.#timers.clear(this.#handle);
    this.#handle = undefined;
    if (due === NEVER) return;
    // Timers count whole milliseconds and may be early by a part of one.
    const wait = Math.max(0, Math.ceil(due - this.#timers.now()));
    this.#handle = this.#timers.set(() => this.#fire(), Math.min(wait, LONGEST_TIMER_MS));
  }

  #fire(): void {
    const due = this.#due;
    this.#handle = undefined;
    this.#due = NEVER;
    if (due > this.#timers.now()) this.set(due);
    else this.#ring();
  }
}
