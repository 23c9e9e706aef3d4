import { HotKVError } from "../errors.ts";
import { type Flow, flowOf } from "../session.ts";
import {
  type Core,
  type Database,
  type GatheringDatabase,
  liveInstance,
  makeClient,
  noteFailure,
  openStore,
  type StoreClient,
} from "./module.ts";

/** How a {@link Durable} is made. */
export interface DurableOptions {
  readonly maxLimiters?: number | undefined;
  readonly cachedKeys?: number;
}

/**
 * The engine over a database. Memory is only a cache: whenever a call fails, or the WebAssembly instance is lost to another
 * store's trap, the next call opens anew from what the database holds.
 */
export class Durable {
  readonly #database: Database | GatheringDatabase;
  readonly #options: DurableOptions;
  #core: Core | undefined;
  #instance = -1;

  constructor(database: Database | GatheringDatabase, options: DurableOptions = {}) {
    this.#database = database;
    this.#options = options;
  }

  /** Opens what the database holds, unless it is open. */
  open(): void {
    this.#run(() => {});
  }

  /** Takes whole commands of a new client; their replies, once what they changed is written. */
  call(now: number, commands: Uint8Array): Uint8Array {
    return this.#run((core) => core.call(now, commands));
  }

  /** As {@link Durable.call}, of text or bytes, and replies as text where they are some. */
  callWire(now: number, commands: string | Uint8Array): string | Uint8Array {
    if (typeof commands !== "string") return this.call(now, commands);
    return this.#run((core) => core.callText(now, commands));
  }

  /** `GCRA.LIMIT` of `"PERIOD BURST COUNT KEY"`, as {@link Durable.callWire} of it alone; {@link decision} says how it answers. */
  gcraLimit(now: number, ask: string): string {
    return this.#run((core) => decision(core, core.gcraLimit(now, ask)));
  }

  /** `RATELIMIT.CHECK` of `"COST KEY"`, as {@link Durable.gcraLimit}. */
  rateLimitCheck(now: number, name: string, ask: string): string {
    return this.#run((core) => decision(core, core.rateLimitCheck(now, name, ask)));
  }

  /** Takes bytes of the one client that is connected all the time. */
  feed(now: number, bytes: Uint8Array): Uint8Array {
    return this.#run((core) => core.feed(now, bytes));
  }

  /** Makes one more client's side of the protocol, for a server that has opened the store. It ends with the memory it is in. */
  openClient(id: number, password: string | undefined): DurableClient {
    return new DurableClient(makeClient(id, password), (client, now, bytes) => {
      return this.#run((core) => core.feedClient(client, now, bytes));
    });
  }

  /** How many commands there were by kind and outcome, and how many records are in memory. */
  figures(): { readonly counters: Float64Array; readonly records: number } {
    return this.#run((core) => ({ counters: core.counters(), records: core.records() }));
  }

  /** When something that was written since the last call can be deleted. */
  takeEarliest(): number | undefined {
    return this.#run((core) => core.takeEarliest());
  }

  /** When {@link Durable.saveDenials} is due. */
  denialsDue(): number | undefined {
    return this.#run((core) => core.denialsDue());
  }

  /** Writes the totals of refused units. */
  saveDenials(): void {
    this.#run((core) => core.saveDenials());
  }

  /** Deletes what has expired among the next rows. When to go on; 0 when nothing is left, `undefined` when the rest lasts. */
  sweep(now: number, rows: number): number | undefined {
    return this.#run((core) => core.sweep(now, rows));
  }

  /** Everything was deleted from the database. */
  cleared(): void {
    this.#run((core) => core.cleared());
  }

  /** Saves the latest time served and what refusals left to save, and lets go of the memory. */
  close(): void {
    if (this.#core === undefined || this.#instance !== liveInstance()) return;
    this.#run((core) => core.close());
    this.drop();
  }

  /** Lets go of the memory, as a crash would. */
  drop(): void {
    const core = this.#core;
    this.#core = undefined;
    if (core !== undefined && this.#instance === liveInstance()) core.free();
  }

  #run<T>(use: (core: Core) => T): T {
    try {
      if (this.#core === undefined || this.#instance !== liveInstance()) {
        this.#core = undefined;
        const { maxLimiters = 10_000, cachedKeys = 10_000 } = this.#options;
        this.#instance = liveInstance();
        this.#core = openStore(this.#database, "begin" in this.#database, maxLimiters, cachedKeys);
      }
      return use(this.#core);
    } catch (error) {
      noteFailure(error);
      this.drop();
      throw error;
    }
  }
}

/** The last decision: JSON of its integers; without the brackets when a number does not hold them all; or its error, in capitals. */
function decision(core: Core, inNumbers: boolean): string {
  if (!inNumbers) return core.answer();
  return `[${core.number(0)},${core.number(1)},${core.number(2)},${core.number(3)},${core.number(4)}]`;
}

/** One client's side of the protocol over a store. */
export class DurableClient {
  readonly #instance = liveInstance();
  readonly #feed: (client: StoreClient, now: number, bytes: Uint8Array) => Uint8Array;
  #client: StoreClient | undefined;

  constructor(client: StoreClient, feed: (client: StoreClient, now: number, bytes: Uint8Array) => Uint8Array) {
    this.#client = client;
    this.#feed = feed;
  }

  /** Takes RESP bytes; the replies to what they completed, as far as `flow` says. */
  feed(now: number, bytes: Uint8Array): Uint8Array {
    if (this.#client === undefined || this.#instance !== liveInstance()) {
      throw new HotKVError("CLOSED", "this session ended with the store it was opened on");
    }
    return this.#feed(this.#client, now, bytes);
  }

  /** What to do once the last replies are sent. */
  get flow(): Flow {
    return flowOf(this.#client === undefined || this.#instance !== liveInstance() ? -1 : this.#client.flow());
  }

  /** Frees it. */
  close(): void {
    const client = this.#client;
    this.#client = undefined;
    if (this.#instance === liveInstance()) client?.free();
  }
}
