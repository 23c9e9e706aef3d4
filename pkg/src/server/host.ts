import type { EngineStats } from "../engine.ts";
import type { Session } from "../session.ts";

/** What the server needs of an engine: sessions that take bytes, and one commit for many of them. */
export interface Host {
  /** One client's side of the protocol. */
  openSession(options: { readonly password?: string }): Session;
  /**
   * Runs `work`, which feeds any number of sessions, and returns once all it changed is stored. Where there is no store
   * there is nothing to wait for.
   */
  commit<T>(work: () => T): T;
  /** Commands so far, and what is held. */
  stats(): EngineStats;
  /** Stores what is left to store, and lets go. */
  close(): void;
}
