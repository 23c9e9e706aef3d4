import type { Timers } from "tidegate";

/** A clock and its timers that a test moves. */
export class VirtualTime implements Timers {
  /** The wall clock, which may be moved by itself. */
  wall = 1_764_547_200_000;
  #now = 0;
  #timers: { due: number; wake: () => void }[] = [];
  /** The most timers there were at once, and how many were set. */
  most = 0;
  setCount = 0;

  readonly clock = () => this.wall;

  now(): number {
    return this.#now;
  }

  set(wake: () => void, ms: number): unknown {
    const timer = { due: this.#now + ms, wake };
    this.#timers.push(timer);
    this.setCount++;
    this.most = Math.max(this.most, this.#timers.length);
    return timer;
  }

  clear(handle: unknown): void {
    this.#timers = this.#timers.filter((timer) => timer !== handle);
  }

  get timers(): number {
    return this.#timers.length;
  }

  /** When the next timer is due, in ms from now. */
  get next(): number | undefined {
    return this.#timers.length === 0 ? undefined : Math.min(...this.#timers.map(({ due }) => due)) - this.#now;
  }

  /** Lets everything that waits on promises alone happen. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Moves the time on by `ms`, firing every timer at its own instant. */
  async advance(ms: number): Promise<void> {
    await this.settle();
    const end = this.#now + ms;
    for (;;) {
      const next = this.#timers.reduce<{ due: number; wake: () => void } | undefined>(
        (first, timer) => (first === undefined || timer.due < first.due ? timer : first),
        undefined,
      );
      if (next === undefined || next.due > end) break;
      this.wall += Math.max(0, next.due - this.#now);
      this.#now = Math.max(this.#now, next.due);
      this.clear(next);
      next.wake();
      await this.settle();
    }
    this.wall += end - this.#now;
    this.#now = end;
  }

  /** Moves on from timer to timer until none is left. */
  async drain(): Promise<void> {
    await this.settle();
    while (this.next !== undefined) await this.advance(this.next);
  }
}

/** The most entries of `times` in any half-open stretch of `window`. */
export function mostInAnyWindow(times: readonly number[], window: number): number {
  let start = 0;
  let most = 0;
  for (const [at, time] of times.entries()) {
    while ((times[start] ?? time) <= time - window) start++;
    most = Math.max(most, at - start + 1);
  }
  return most;
}
