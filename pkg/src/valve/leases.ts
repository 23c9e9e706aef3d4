import { ValveError } from "./errors.ts";
import { NEVER } from "./timers.ts";

/** The leases that this worker's jobs hold: renewed together every third of a lease, lost when the store says so. */
export class Leases {
  readonly #held = new Map<string, Held>();
  readonly #length: number;
  readonly #renew: (ids: readonly string[]) => Promise<unknown>;
  /** When to renew next; `Infinity` while none is held. */
  renewAt = NEVER;

  /** @param renew Renews leases in the store; how many were held. */
  constructor(length: number, renew: (ids: readonly string[]) => Promise<unknown>) {
    this.#length = length;
    this.#renew = renew;
  }

  /** Counts a lease that the store gave at `now`. */
  hold(id: string, job: AbortController, now: number): void {
    this.#held.set(id, { job, until: now + this.#length });
    this.renewAt = Math.min(this.renewAt, now + this.#length / 3);
  }

  /** Its job has ended; whether it held its lease until then. */
  drop(id: string): boolean {
    const held = this.#held.delete(id);
    if (this.#held.size === 0) this.renewAt = NEVER;
    return held;
  }

  /** Renews every lease; the ids of those that are lost, whose jobs are told through their signals. */
  async renewAll(now: number): Promise<string[]> {
    const ids = [...this.#held.keys()];
    this.renewAt = ids.length > 0 ? now + this.#length / 3 : NEVER;
    const lost: string[] = [];
    try {
      const all = (await this.#renew(ids)) === ids.length;
      for (const id of ids) {
        const held = all || (await this.#renew([id])) === 1 ? this.#held.get(id) : this.#lose(id, lost);
        if (held) held.until = now + this.#length;
      }
    } catch {
      // The store may be back before a lease runs out; one that has run out is lost, heard of or not.
      this.loseOverdue(now, lost);
    }
    return lost;
  }

  /** When the first lease runs out unless it is renewed before. */
  runsOutAt(): number {
    let first = NEVER;
    for (const [, { until }] of this.#held) first = Math.min(first, until);
    return first;
  }

  /** Adds to `lost` the ids of those that have run out while the store is silent, whose jobs are told through their signals. */
  loseOverdue(now: number, lost: string[]): string[] {
    for (const [id, { until }] of this.#held) if (until <= now) this.#lose(id, lost);
    return lost;
  }

  #lose(id: string, lost: string[]): undefined {
    const held = this.#held.get(id);
    if (held === undefined) return;
    this.drop(id);
    lost.push(id);
    held.job.abort(new ValveError("ABORTED", "the job's lease was lost: it ran out before it could be renewed"));
  }
}

interface Held {
  readonly job: AbortController;
  until: number;
}
