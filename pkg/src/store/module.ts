import * as glue from "../../wasm/store.js";

/*
 * The WebAssembly module of the engine with a store behind it: what Durable Objects and `file:` use. All stores of an isolate
 * share one instance; a trap ends it for all of them, and each one opens again from its own database.
 */

type Source = () => WebAssembly.Module | BufferSource;

let source: Source | undefined;
let exports: glue.InitOutput | undefined;
/** Which instance this is: counted up by each trap. */
let instance = 0;

/** A store in wasm memory. */
export type Core = glue.DurableStore;

/** A database as the store calls it. */
export interface Database {
  exec(query: string, ...bindings: readonly (number | string | Uint8Array | null)[]): { raw(): Iterable<unknown[]> };
}

/** A database whose writes are gathered between two calls. */
export interface GatheringDatabase extends Database {
  begin(): void;
  commit(): void;
}

/** Says where this runtime has the module. */
export function setStoreSource(from: Source): void {
  source ??= from;
}

/** Which instance of the module is alive. */
export function liveInstance(): number {
  return instance;
}

/** How much memory the module has, in bytes: all stores together. */
export function storeMemoryBytes(): number {
  return exports?.memory.buffer.byteLength ?? 0;
}

/** Opens a store over a database. */
export function openStore(database: Database, gathers: boolean, maxLimiters: number, cachedKeys: number): Core {
  if (exports === undefined) {
    if (source === undefined) throw new Error("the store's WebAssembly module has no source in this runtime");
    exports = glue.initSync({ module: source() });
  }
  return glue.DurableStore.open(database, gathers, maxLimiters, cachedKeys);
}

/** One client of a store that has several, in wasm memory. */
export type StoreClient = glue.StoreClient;

/** Makes a client; with a password it must send that first. The store must be open. */
export function makeClient(id: number, password: string | undefined): StoreClient {
  return new glue.StoreClient(id, password === undefined ? undefined : new TextEncoder().encode(password));
}

/** Takes note of what a call into the module threw: after a trap, the next store gets a fresh instance. */
export function noteFailure(error: unknown): void {
  if (!(error instanceof WebAssembly.RuntimeError)) return;
  instance++;
  glue.__wbg_reset_state();
  // A module that is ready is returned as it is: this asks for the new instance's exports.
  exports = glue.initSync({ module: new Uint8Array(0) });
}
