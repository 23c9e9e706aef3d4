import type { Socket } from "node:net";
import type { Session } from "../session.ts";

/** What bounds one client. */
export interface ConnectionLimits {
  /** Milliseconds without a byte from the client before it is closed; 0 never closes it. */
  readonly idleMs: number;
  /** Bytes of replies that may wait for a client that does not read; beyond that it is closed. */
  readonly maxReplyBytes: number;
  /** Milliseconds that replies may wait for a client that reads nothing at all; then it is closed. */
  readonly stallMs: number;
}

/** Why a connection ended. */
export type CloseReason = "client" | "protocol" | "idle" | "slow reader" | "shutdown" | "error";

/**
 * One client's socket. Chunks go into its session as they come and replies go out whole; while the client does not read,
 * nothing more is read from it, so what waits for it is bounded by one chunk's replies.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #session: Session;
  readonly #limits: ConnectionLimits;
  readonly #onClose: (reason: CloseReason) => void;
  #reason: CloseReason = "client";
  #ended = false;
  #stall: NodeJS.Timeout | undefined;
  #delay: NodeJS.Timeout | undefined;

  constructor(
    socket: Socket,
    session: Session,
    limits: ConnectionLimits,
    onChunk: (connection: Connection, chunk: Uint8Array) => void,
    onClose: (reason: CloseReason) => void,
  ) {
    this.#socket = socket;
    this.#session = session;
    this.#limits = limits;
    this.#onClose = onClose;
    socket.setNoDelay(true);
    if (limits.idleMs > 0) socket.setTimeout(limits.idleMs, () => this.destroy("idle"));
    socket.on("data", (chunk: Uint8Array) => onChunk(this, chunk));
    socket.on("drain", () => this.#drained());
    socket.on("error", () => this.destroy("error"));
    // A client that closed its half still gets the replies that are on their way.
    socket.on("end", () => this.end("client"));
    socket.on("close", () => this.#closed());
  }

  /** Puts a chunk into the session; the replies to what it completed. */
  feed(chunk: Uint8Array): Uint8Array {
    return this.#session.feed(chunk);
  }

  /** Sends replies, then does what the session asked for: go on, wait a moment, or close. */
  reply(bytes: Uint8Array): void {
    if (this.#ended) return;
    if (bytes.length > 0 && !this.#socket.write(bytes)) this.#backpressure();
    const flow = this.#session.flow;
    if (flow === "close") this.end("protocol");
    else if (typeof flow === "number") this.#wait(flow);
  }

  /** Closes after what was written has left. */
  end(reason: CloseReason): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#reason = reason;
    this.#socket.end();
    // A peer that never closes its side does not hold the socket open.
    this.#stall ??= setTimeout(() => this.#socket.destroy(), this.#limits.stallMs);
  }

  /** Closes at once. */
  destroy(reason: CloseReason): void {
    if (!this.#ended) this.#reason = reason;
    this.#ended = true;
    this.#socket.destroy();
  }

  #backpressure(): void {
    if (this.#socket.writableLength > this.#limits.maxReplyBytes) {
      this.destroy("slow reader");
      return;
    }
    this.#socket.pause();
    this.#stall ??= setTimeout(() => this.destroy("slow reader"), this.#limits.stallMs);
  }

  #drained(): void {
    if (this.#ended) return;
    clearTimeout(this.#stall);
    this.#stall = undefined;
    if (this.#delay === undefined) this.#socket.resume();
  }

  /** Reads nothing for `ms`: what a client that guesses passwords gets. */
  #wait(ms: number): void {
    this.#socket.pause();
    clearTimeout(this.#delay);
    this.#delay = setTimeout(() => {
      this.#delay = undefined;
      if (!this.#ended && !this.#socket.writableNeedDrain) this.#socket.resume();
    }, ms);
  }

  #closed(): void {
    this.#ended = true;
    clearTimeout(this.#stall);
    clearTimeout(this.#delay);
    this.#session.close();
    this.#onClose(this.#reason);
  }
}
