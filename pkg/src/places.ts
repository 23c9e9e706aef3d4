import type { Backend } from "./hotkv.ts";
import type { HotKVOptions } from "./index.ts";

/**
 * The ways to budgets outside this process that need more than web standards. An entry point brings those that its runtime
 * has, so that a bundle for a browser or a Worker holds nothing of them. Each checks its options at once, and opens later.
 */
export interface Places {
  /** `file:PATH`. */
  readonly file?: (url: string, options: HotKVOptions) => () => Backend;
  /** `hotkv://HOST:PORT` and `hotkvs://HOST:PORT`. */
  readonly socket?: (url: string, options: HotKVOptions) => () => Backend;
}

/** The places of this runtime. */
export let places: Places = {};

/** Says what places this runtime has; the entry points do. */
export function setPlaces(these: Places): void {
  places = these;
}
