import type { Backend } from "./hotkv.ts";
import type { HotKVOptions } from "./index.ts";

/** A way to budgets outside this process. It checks its options at once, and opens later. */
type Place = (url: string, options: HotKVOptions) => () => Backend;

/**
 * The ways that need more than web standards. An entry point brings those that its runtime has, so that a bundle for a browser
 * or a Worker holds nothing of them.
 */
export const places: {
  /** `file:PATH`. */
  file?: Place;
  /** `hotkv://HOST:PORT` and `hotkvs://HOST:PORT`. */
  socket?: Place;
} = {};
