import { Engine } from "tidegate/web";
import { callsFor, readAnswer } from "../rule/calls.ts";
import type { Rule } from "../rule/rule.ts";
import { type Arrivals, costOf } from "./arrivals.ts";
import { random } from "./generate.ts";

/** What a refused client does next. */
export type Retry =
  /** Goes away. */
  | { readonly kind: "never" }
  /** Tries again every so many milliseconds, whatever it was told. */
  | { readonly kind: "hammer"; readonly every: number }
  /** Waits as long as it was told, then a random while that doubles each time. */
  | { readonly kind: "polite" }
  /** Stands in line: only the first in line asks, and it waits exactly as long as it was told. */
  | { readonly kind: "queue" };

/** A client that was refused, or that asks for the first time. */
interface Client {
  readonly at: number;
  readonly cost: number;
  readonly tries: number;
}

/** How long after the last first try clients keep trying, in milliseconds, and how many requests that may add. */
const PATIENCE_MS = 10_000;
const MOST_REQUESTS = 20_000;

/**
 * All requests that reach a policy when refused clients come back: the first tries, and each retry as the engine's own
 * answers lead to it.
 */
export function withRetries(rules: readonly Rule[], first: Arrivals, retry: Retry, seed: number): Arrivals {
  if (retry.kind === "never" || first.times.length === 0) return first;
  let now = 0;
  const engine = new Engine({ clock: () => now });
  const { setUp, check } = callsFor(rules, "retry");
  let fingerprint = "";
  for (const command of setUp) fingerprint = String(engine.command(...command));
  const jitter = random(seed);
  const until = (first.times.at(-1) ?? 0) + PATIENCE_MS;
  const clients = new Agenda();
  first.times.forEach((at, index) => {
    clients.add({ at, cost: costOf(first, index), tries: 0 });
  });
  const line: Client[] = [];
  const sent: (readonly [number, number])[] = [];
  for (let client = clients.next(); client !== undefined; client = clients.next()) {
    if (client.at > until || sent.length === MOST_REQUESTS) break;
    now = client.at;
    // Behind others in line nobody asks.
    if (retry.kind === "queue" && client.tries === 0 && line.length > 0) {
      line.push(client);
      continue;
    }
    sent.push([now, client.cost]);
    const call = check(client.cost, fingerprint);
    const answer = readAnswer(call, engine.command(...call));
    if (answer.allowed || answer.retryAfterMs < 0) {
      if (retry.kind !== "queue") continue;
      if (client.tries > 0) line.shift();
      const following = line[0];
      if (following !== undefined) clients.add({ ...following, at: now, tries: 1 });
      continue;
    }
    if (retry.kind === "queue" && client.tries === 0) line.push(client);
    clients.add({
      ...client,
      at: now + pause(retry, answer.retryAfterMs, client.tries, jitter),
      tries: client.tries + 1,
    });
  }
  engine.close();
  return {
    times: Float64Array.from(sent, ([time]) => time),
    ...(first.costs === undefined ? {} : { costs: Float64Array.from(sent, ([, cost]) => cost) }),
  };
}

function pause(retry: Retry, retryAfterMs: number, tries: number, jitter: () => number): number {
  if (retry.kind === "hammer") return retry.every;
  if (retry.kind === "queue") return retryAfterMs;
  return retryAfterMs + Math.floor(jitter() * 250 * 2 ** Math.min(tries, 6));
}

/** Clients by time; those of the same time in the order in which they came. A binary heap. */
class Agenda {
  readonly #heap: (Client & { readonly turn: number })[] = [];
  #turns = 0;

  add(client: Client): void {
    const heap = this.#heap;
    const added = { ...client, turn: this.#turns++ };
    let at = heap.push(added) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(added, this.#at(parent))) break;
      heap[at] = this.#at(parent);
      at = parent;
    }
    heap[at] = added;
  }

  next(): Client | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(this.#at(child + 1), this.#at(child))) child++;
      if (!before(this.#at(child), last)) break;
      heap[at] = this.#at(child);
      at = child;
    }
    heap[at] = last;
    return first;
  }

  #at(index: number): Client & { readonly turn: number } {
    return this.#heap[index] as Client & { readonly turn: number };
  }
}

function before(a: { at: number; turn: number }, b: { at: number; turn: number }): boolean {
  return a.at < b.at || (a.at === b.at && a.turn < b.turn);
}
