/**
 * A latency histogram with fixed bounds, in the form Prometheus reads: cumulative counts, a sum and a total.
 */
export class Histogram {
  /** Upper bounds of the buckets, ascending. */
  readonly bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #total = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.#counts = new Array<number>(bounds.length + 1).fill(0);
  }

  /** Counts one value. */
  record(value: number): void {
    let bucket = 0;
    while (bucket < this.bounds.length && value > (this.bounds[bucket] ?? Infinity)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
    this.#total++;
  }

  /** The histogram as Prometheus text under `name`. */
  expose(name: string): string {
    let seen = 0;
    const buckets = this.#counts.map((count, bucket) => {
      seen += count;
      return `${name}_bucket{le="${this.bounds[bucket] ?? "+Inf"}"} ${seen}`;
    });
    return `${[...buckets, `${name}_sum ${this.#sum}`, `${name}_count ${this.#total}`].join("\n")}\n`;
  }
}
