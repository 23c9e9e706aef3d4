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

/** How long after the last first try clients keep trying, in milliseconds. */
const PATIENCE_MS = 10_000;
/** How many requests that may add; then whoever is refused goes away. */
export const MOST_RETRIES = 20_000;

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
  let came = 0;
  // Who comes for the first time goes before who comes back at the same time.
  const next = (): Client | undefined => {
    const at = first.times[came];
    if (at === undefined || at > clients.soonest) return clients.next();
    return { at, cost: costOf(first, came++), tries: 0 };
  };
  const line: Client[] = [];
  const sent: (readonly [number, number])[] = [];
  let retries = 0;
  const comeBack = (client: Client) => {
    if (retries === MOST_RETRIES) {
      line.length = 0;
      return;
    }
    retries++;
    clients.add(client);
  };
  for (let client = next(); client !== undefined; client = next()) {
    if (client.at > until) break;
    now = client.at;
    // Nobody comes back any more: what the rest are answered changes nothing of what is sent.
    if (retries === MOST_RETRIES && clients.soonest === Number.POSITIVE_INFINITY) {
      sent.push([now, client.cost]);
      continue;
    }
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
      if (following !== undefined) comeBack({ ...following, at: now, tries: 1 });
      continue;
    }
    if (retry.kind === "queue" && client.tries === 0) line.push(client);
    comeBack({
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

/** Clients that come back, by time; those of the same time in the order in which they came. A binary heap. */
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

  /** When the first of them comes; infinity when there is none. */
  get soonest(): number {
    return this.#heap[0]?.at ?? Number.POSITIVE_INFINITY;
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
