import type { createClient } from "@redis/client";
import { clientClosed, HotKVError } from "../errors.ts";
import type { Command, Reply } from "../reply.ts";
import type { Transport } from "../transport.ts";

type Client = ReturnType<typeof createClient>;

/** How a socket transport connects. */
export interface SocketOptions {
  /** Sent with `AUTH`; one in the URL counts as well. */
  readonly password?: string;
  /** Milliseconds to wait for a connection, and for each reply. Default 5,000. */
  readonly timeoutMs?: number;
}

/**
 * `hotkv://host:port` and, over TLS, `hotkvs://host:port`: a server that speaks RESP. Commands sent in one turn of the event
 * loop travel as one pipeline; a lost connection is made again, and what it had not answered is rejected, never sent twice.
 *
 * The connection opens with the first command. It does not keep a process alive by itself.
 */
export class SocketTransport implements Transport {
  readonly #url: string;
  readonly #options: SocketOptions;
  #client: Promise<Client> | undefined;
  #pending = 0;
  #closed = false;

  constructor(url: string, options: SocketOptions = {}) {
    this.#url = url.replace(/^hotkv(s?):/, "redis$1:");
    this.#options = options;
  }

  async send(commands: readonly Command[]): Promise<readonly Reply[]> {
    if (this.#closed) throw clientClosed();
    const client = await this.#connected();
    if (this.#pending++ === 0) client.ref();
    try {
      const settled = await Promise.allSettled(commands.map((command) => client.sendCommand<Reply>(command.map(text))));
      return settled.map((result) => (result.status === "fulfilled" ? result.value : this.#failure(result.reason)));
    } finally {
      if (--this.#pending === 0) client.unref();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const client = await this.#client?.catch(() => undefined);
    client?.destroy();
  }

  #connected(): Promise<Client> {
    this.#client ??= this.#connect().catch((error: unknown) => {
      this.#client = undefined;
      throw this.#unavailable(error);
    });
    return this.#client;
  }

  async #connect(): Promise<Client> {
    const { createClient } = await load();
    const { password, timeoutMs = 5000 } = this.#options;
    const client = createClient({
      url: this.#url,
      RESP: 2,
      disableClientInfo: true,
      // A decision asked for while there is no connection must fail now, not be counted at some later time.
      disableOfflineQueue: true,
      commandOptions: { timeout: timeoutMs },
      socket: {
        connectTimeout: timeoutMs,
        // The first connection fails at once; a lost one is tried again for as long as the client is open.
        reconnectStrategy: (retries) => (opened ? Math.min(50 * 2 ** retries, 2000) : false),
      },
      ...(password === undefined ? {} : { password }),
    });
    let opened = false;
    // Every command already rejects with what went wrong; without a listener Node would end the process.
    client.on("error", () => {});
    await client.connect();
    opened = true;
    client.unref();
    return client as Client;
  }

  /** An error reply in its place, or the fault that left the reply missing. */
  #failure(reason: unknown): HotKVError {
    if (reason instanceof Error && /^[A-Z_]+( |$)/.test(reason.message)) return HotKVError.fromReply(reason.message);
    throw this.#unavailable(reason);
  }

  #unavailable(cause: unknown): HotKVError {
    if (cause instanceof HotKVError) return cause;
    const why = cause instanceof Error ? cause.message || cause.name : String(cause);
    const { host } = new URL(this.#url);
    return new HotKVError("STORE_UNAVAILABLE", `no answer from ${host}: ${why}`, { cause, retryable: true });
  }
}

async function load(): Promise<typeof import("@redis/client")> {
  try {
    return await import("@redis/client");
  } catch (cause) {
    throw new HotKVError(
      "STORE_UNAVAILABLE",
      "hotkv:// needs the sockets of Node, Deno or Bun; use https:// or a Durable Object binding here",
      { cause },
    );
  }
}

function text(argument: Command[number]): string | Buffer {
  if (argument instanceof Uint8Array) return Buffer.from(argument);
  return String(argument);
}
