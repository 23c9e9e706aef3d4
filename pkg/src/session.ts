import { invalidArgument } from "./arguments.ts";
import { HotKVError } from "./errors.ts";
import { type Connection, flowNumber, free } from "./module.ts";

/** One client's side of the protocol: bytes in, replies out, and what a connection remembers between them. */
export class Session {
  #connection: Connection | undefined;
  readonly #feed: (bytes: Uint8Array) => Uint8Array;

  /**
   * Use `Engine.openSession`.
   *
   * @internal
   */
  constructor(connection: Connection, feed: (bytes: Uint8Array) => Uint8Array) {
    this.#connection = connection;
    this.#feed = feed;
  }

  /** Takes RESP bytes, whole commands or cut anywhere; the replies to those that are complete, as far as `flow` says. */
  feed(bytes: Uint8Array): Uint8Array {
    if (!(bytes instanceof Uint8Array)) throw invalidArgument("bytes", bytes, "a Uint8Array");
    if (this.#connection === undefined) throw new HotKVError("CLOSED", "this session is closed");
    return this.#feed(bytes);
  }

  /**
   * What to do once the last replies are sent:
   * - `"continue"`: read on;
   * - `"close"`: the client said `QUIT`, or something that is no request;
   * - `"more"`: feed nothing, to get the rest of a long answer;
   * - a number: wait so many milliseconds, then feed nothing; a password was wrong.
   */
  get flow(): Flow {
    return flowOf(this.#connection === undefined ? -1 : flowNumber(this.#connection));
  }

  /** Feeds bytes and goes on to the end of the answer. */
  feedAll(bytes: Uint8Array): Uint8Array {
    const first = this.feed(bytes);
    if (this.flow !== "more") return first;
    const parts = [first];
    while (this.flow === "more") parts.push(this.feed(new Uint8Array()));
    const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }

  /** Frees the session. Feeding it again throws `"CLOSED"`; closing again does nothing. */
  close(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection !== undefined) free(connection);
  }
}

/** What to do once a session's replies are sent; a number is milliseconds to wait. */
export type Flow = "continue" | "close" | "more" | number;

/** The flow that a session's number stands for. */
export function flowOf(number: number): Flow {
  if (number === -1) return "close";
  if (number === -2) return "more";
  return number === 0 ? "continue" : number;
}
