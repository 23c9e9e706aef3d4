import type { EngineStats } from "../engine.ts";
import type { Flow } from "../session.ts";

/** What the server needs of an engine: sessions that take bytes, and one commit for many of them. */
export interface Host {
  /** One client's side of the protocol. */
  openSession(options: { readonly password?: string }): HostSession;
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

/** One client's side of the protocol. */
export interface HostSession {
  /** Takes RESP bytes, whole commands or cut anywhere; the replies to those that are complete, as far as `flow` says. */
  feed(bytes: Uint8Array): Uint8Array;
  /** What to do once the last replies are sent. */
  readonly flow: Flow;
  /** Frees the session. */
  close(): void;
}
