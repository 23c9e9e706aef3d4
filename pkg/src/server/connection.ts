import type { Socket } from "node:net";
import type { HostSession } from "./host.ts";

const NOTHING = new Uint8Array();

/** What bounds one client. */
export interface ConnectionLimits {
  /** Milliseconds without a byte from the client before it is closed; 0 never closes it. */
  readonly idleMs: number;
  /** Milliseconds that replies may wait for a client that reads nothing at all; then it is closed. */
  readonly stallMs: number;
}

/** Milliseconds that a client whose replies have all left gets to close its side. */
const LINGER_MS = 1000;

/** Why a connection ended. */
export type CloseReason = "client" | "protocol" | "idle" | "slow reader" | "shutdown" | "error";

/**
 * One client's socket. Chunks go into its session as they come and replies go out whole; while the client does not read,
 * nothing more is read from it, so what waits for it is bounded by one chunk's replies.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #session: HostSession;
  readonly #limits: ConnectionLimits;
  readonly #onChunk: (connection: Connection, chunk: Uint8Array) => void;
  readonly #onClose: (reason: CloseReason) => void;
  /** Whether the session holds back commands until their turn. */
  #held = false;
  #reason: CloseReason = "client";
  #ended = false;
  /** Whether the client sends nothing more. */
  #sentAll = false;
  #stall: NodeJS.Timeout | undefined;
  #delay: NodeJS.Timeout | undefined;

  constructor(
    socket: Socket,
    session: HostSession,
    limits: ConnectionLimits,
    onChunk: (connection: Connection, chunk: Uint8Array) => void,
    onClose: (reason: CloseReason) => void,
  ) {
    this.#socket = socket;
    this.#session = session;
    this.#limits = limits;
    this.#onChunk = onChunk;
    this.#onClose = onClose;
    socket.setNoDelay(true);
    if (limits.idleMs > 0) socket.setTimeout(limits.idleMs, () => this.destroy("idle"));
    socket.on("data", (chunk: Uint8Array) => onChunk(this, chunk));
    socket.on("drain", () => this.#drained());
    socket.on("error", () => this.destroy("error"));
    // A client that closed its half still gets the replies to all that it sent, so that is not over before its last chunk's turn.
    socket.on("end", () => {
      this.#sentAll = true;
      if (!this.#held) onChunk(this, NOTHING);
    });
    socket.on("close", () => this.#closed());
  }

  /**
   * Puts what arrived into the session; the replies to what it completed. Whatever comes after the end is not looked at: a
   * protocol error may be a web page's request, the body of which follows.
   */
  feed(bytes: Uint8Array): Uint8Array {
    return this.#ended ? NOTHING : this.#session.feed(bytes);
  }

  /** Sends replies, then does what the session asked for: go on, wait a moment, or close. */
  reply(bytes: Uint8Array): void {
    if (this.#ended) return;
    if (bytes.length > 0 && !this.#socket.write(bytes)) this.#backpressure();
    const flow = this.#session.flow;
    if (flow === "close") {
      this.end("protocol");
    } else if (flow !== "continue") {
      this.#held = true;
      this.#socket.pause();
      if (typeof flow === "number") this.#delay = setTimeout(() => this.#goOn(), flow);
      else this.#goOn();
    } else if (this.#sentAll) {
      this.end("client");
    } else if (this.#socket.isPaused() && this.#delay === undefined) {
      this.#goOn();
    }
  }

  /** Closes after what was written has left. */
  end(reason: CloseReason): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#reason = reason;
    // What still comes is read and dropped, or closing would look like a broken connection to a client that has replies to read.
    this.#socket.resume();
    // A peer that never closes its side, or reads nothing, does not hold the socket open.
    const destroy = () => this.#socket.destroy();
    this.#socket.end(() => {
      clearTimeout(this.#stall);
      this.#stall = setTimeout(destroy, LINGER_MS);
    });
    this.#stall ??= setTimeout(destroy, this.#limits.stallMs);
  }

  /** Sends an error instead of replies, and closes after it has left. */
  fail(error: string): void {
    if (this.#ended) return;
    this.#socket.write(error);
    this.end("error");
  }

  /** Closes at once. */
  destroy(reason: CloseReason): void {
    if (!this.#ended) this.#reason = reason;
    this.#ended = true;
    this.#socket.destroy();
  }

  /** The client reads slower than it asks: nothing more is read from it until it has caught up. */
  #backpressure(): void {
    this.#socket.pause();
    this.#stall ??= setTimeout(() => this.destroy("slow reader"), this.#limits.stallMs);
  }

  #drained(): void {
    clearTimeout(this.#stall);
    this.#stall = undefined;
    if (this.#delay === undefined) this.#goOn();
  }

  /** Takes up what was held back, or reads on, unless the client still has replies to read. */
  #goOn(): void {
    this.#delay = undefined;
    if (this.#ended || this.#socket.writableNeedDrain) return;
    if (this.#held) {
      this.#held = false;
      this.#onChunk(this, NOTHING);
    } else {
      this.#socket.resume();
    }
  }

  #closed(): void {
    this.#ended = true;
    clearTimeout(this.#stall);
    clearTimeout(this.#delay);
    this.#session.close();
    this.#onClose(this.#reason);
  }
}
