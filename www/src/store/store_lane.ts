import { ADMITTED, about, REFUSED, type Track, track } from "../outcome/track.ts";
import { type Call, type Calls, callsFor, readAnswer } from "../rule/calls.ts";
import type { Rule } from "../rule/rule.ts";
import { type Remote, remote } from "./remote.ts";

/** One request that a real store answered. */
export interface Answered {
  /** When it was sent, in milliseconds since 1970. */
  readonly time: number;
  readonly allowed: boolean;
  readonly retryAfterMs: number;
  /** From sending to the answer, in milliseconds. */
  readonly latency: number;
}

/** A real store that gets the same requests as the lanes while they are sent by hand. */
export class StoreLane {
  /** What is wrong, or what is going on. */
  status = "Not connected.";
  connected = false;
  answers: readonly Answered[] = [];
  readonly #changed: () => void;
  #remote: Remote | undefined;
  #calls: Calls | undefined;
  #fingerprint = "";
  #attempts = 0;
  #rule: Rule | undefined;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Makes the rule on the store, under a name of its own, and sends requests there from now on. */
  async connect(url: string, token: string, rules: readonly Rule[]): Promise<void> {
    const name = `playground-${crypto.randomUUID().slice(0, 8)}`;
    this.disconnect();
    const attempt = ++this.#attempts;
    this.status = "Connecting …";
    this.#changed();
    try {
      const store = remote(url, token);
      const calls = callsFor(rules, name);
      let fingerprint = "";
      for (const call of calls.setUp) fingerprint = String(await store.send(call));
      if (calls.setUp.length === 0) await store.send(["PING"]);
      // A later attempt is what counts, however late the answers to this one are.
      if (attempt !== this.#attempts) return;
      this.#fingerprint = fingerprint;
      this.#remote = store;
      this.#calls = calls;
      this.#rule = rules[0];
      this.connected = true;
      this.status = `Connected; requests you send go there too, under the name ${name}.`;
    } catch (error) {
      if (attempt !== this.#attempts) return;
      this.status = `No store there: ${said(error)}`;
    }
    this.#changed();
  }

  disconnect(): void {
    this.connected = false;
    this.#remote = undefined;
    this.status = "Not connected.";
    this.#changed();
  }

  clear(): void {
    this.answers = [];
  }

  /** Sends one request, when connected. */
  async send(time: number): Promise<void> {
    const [store, calls] = [this.#remote, this.#calls];
    if (store === undefined || calls === undefined) return;
    const call: Call = calls.check(1, this.#fingerprint);
    const started = performance.now();
    try {
      const reply = await store.send(call);
      const latency = performance.now() - started;
      const answered = { time, ...readAnswer(call, reply), latency };
      // Answers may overtake each other; the row is in order of sending.
      this.answers = [...this.answers, answered].sort((a, b) => a.time - b.time);
    } catch (error) {
      this.status = `The store did not answer: ${said(error)}`;
    }
    this.#changed();
  }

  /** What the store decided, as a row. */
  get track(): Track | undefined {
    const rule = this.#rule;
    if (rule === undefined || !this.connected) return undefined;
    const column = (value: (answer: Answered) => number) => Float64Array.from(this.answers, value);
    return track({
      ...about(rule),
      name: "The real store",
      arrivals: { times: column(({ time }) => time) },
      fate: Uint8Array.from(this.answers, ({ allowed }) => (allowed ? ADMITTED : REFUSED)),
      retryAfterMs: column(({ retryAfterMs }) => retryAfterMs),
      resetAfterMs: column(() => 0),
    });
  }

  /** The latency that half of the answers, and all but one of twenty, stayed within. */
  get latency(): { readonly median: number; readonly p95: number } | undefined {
    const sorted = this.answers.map(({ latency }) => latency).sort((a, b) => a - b);
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
    const [median, p95] = [at(0.5), at(0.95)];
    return median === undefined || p95 === undefined ? undefined : { median, p95 };
  }
}

function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
