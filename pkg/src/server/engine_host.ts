import { Engine } from "../engine.ts";
import type { Host } from "./host.ts";

/** What a host is opened with. */
export interface HostOptions {
  /** The most keys in memory. */
  readonly maxKeys?: number;
  /** The time, for tests; a server's clock is the machine's. */
  readonly clock?: () => number;
}

/** An engine in memory, as a server needs it. */
export function openHost(options: HostOptions): Host {
  const engine = new Engine(options);
  return {
    openSession: (options) => engine.openSession(options),
    commit: (work) => work(),
    stats: () => engine.stats(),
    close: () => engine.close(),
  };
}
