import { HotKVError } from "./errors.ts";
import { type Connection, free } from "./module.ts";

/** One client's side of the protocol: bytes in, replies out, and what a connection remembers between them. */
export class Session {
  #connection: Connection | undefined;
  readonly #feed: (bytes: Uint8Array) => Uint8Array;

  /** Use `Engine.openSession`. */
  constructor(connection: Connection, feed: (bytes: Uint8Array) => Uint8Array) {
    this.#connection = connection;
    this.#feed = feed;
  }

  /** Takes RESP bytes, whole commands or cut anywhere; the replies to those that are complete. */
  feed(bytes: Uint8Array): Uint8Array {
    if (this.#connection === undefined) throw new HotKVError("CLOSED", "this session is closed");
    return this.#feed(bytes);
  }

  /**
   * What to do once the last replies are sent: go on, close (the client said `QUIT`, or something that is no request), or read
   * nothing for so many milliseconds (a password was wrong).
   */
  get flow(): "continue" | "close" | number {
    const flow = this.#connection === undefined ? -1 : this.#connection.flow();
    if (flow < 0) return "close";
    return flow === 0 ? "continue" : flow;
  }

  /** Frees the session. Feeding it again throws `"CLOSED"`; closing again does nothing. */
  close(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection !== undefined) free(connection);
  }
}
