import type { createClient } from "@redis/client";
import { clientClosed, HotKVError } from "../errors.ts";
import type { Command, Reply } from "../reply.ts";
import { integer } from "../resp/decode.ts";
import { argumentText } from "../resp/encode.ts";
import { assertEnded } from "../transaction.ts";
import type { Transport } from "../transport.ts";

type Client = ReturnType<typeof createClient>;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** How a socket transport connects. */
export interface SocketOptions {
  /** Sent with `AUTH`; one in the URL counts as well. */
  readonly password?: string;
  /** Milliseconds to wait for a connection, and for each reply. Default 5,000. */
  readonly timeoutMs?: number;
}

/**
 * `hotkv://host:port` and, over TLS, `hotkvs://host:port`: a server that speaks RESP. Commands sent in one turn of the event
 * loop travel as one pipeline; a lost connection is made again, and what it had not answered is rejected, never sent twice. One
 * that does not answer in time is given up, since replies come in order: whatever waits behind is answered no sooner.
 *
 * The connection opens with the first command. It does not keep a process alive by itself.
 */
export class SocketTransport implements Transport {
  readonly #url: string;
  readonly #options: SocketOptions;
  readonly #timeoutMs: number;
  #client: Promise<Client> | undefined;
  #closed = false;

  constructor(url: string, options: SocketOptions = {}) {
    this.#url = url.replace(/^hotkv(s?):/, "redis$1:");
    this.#options = options;
    this.#timeoutMs = options.timeoutMs ?? 5000;
  }

  async send(commands: readonly Command[]): Promise<readonly Reply[]> {
    if (this.#closed) throw clientClosed();
    assertEnded(commands);
    const asked = commands.map((command) => command.map((argument, index) => bytesOf(argumentText(index, argument))));
    const opening = this.#connected();
    const client = await opening;
    const settled = await this.#inTime(
      () => Promise.allSettled(asked.map((command) => client.sendCommand<unknown>(command))),
      () => this.#giveUp(opening, client),
    );
    return settled.map((result) =>
      result.status === "fulfilled" ? replyOf(result.value) : this.#failure(result.reason),
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    const client = await this.#client?.catch(() => undefined);
    client?.destroy();
  }

  /** What `work` comes to; where that takes too long, `giveUp` ends it. The timer keeps the process alive meanwhile. */
  async #inTime<T>(work: () => Promise<T>, giveUp: () => void): Promise<T> {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      giveUp();
    }, this.#timeoutMs);
    try {
      const result = await work();
      if (!late) return result;
    } catch (error) {
      if (!late) throw error;
    } finally {
      clearTimeout(timer);
    }
    throw this.#unavailable(`none within ${this.#timeoutMs} ms`);
  }

  /** Lets go of a connection; the next call makes another one. */
  #giveUp(opening: Promise<Client>, client: Client): void {
    if (this.#client === opening) this.#client = undefined;
    if (client.isOpen) client.destroy();
  }

  #connected(): Promise<Client> {
    this.#client ??= this.#connect().catch((error: unknown) => {
      this.#client = undefined;
      throw this.#unavailable(error);
    });
    return this.#client;
  }

  async #connect(): Promise<Client> {
    const { createClient, RESP_TYPES } = await load();
    const { password } = this.#options;
    const client = createClient({
      url: this.#url,
      RESP: 2,
      disableClientInfo: true,
      // A decision asked for while there is no connection must fail now, not be counted at some later time.
      disableOfflineQueue: true,
      // It would read 2^53 - 1 as 2^53: what is a string then is digits, since all text comes as bytes.
      commandOptions: {
        typeMapping: {
          [RESP_TYPES.NUMBER]: String,
          [RESP_TYPES.SIMPLE_STRING]: Buffer,
          [RESP_TYPES.BLOB_STRING]: Buffer,
          [RESP_TYPES.MAP]: Map,
        },
      },
      socket: {
        connectTimeout: this.#timeoutMs,
        // The first connection fails at once; a lost one is tried again for as long as the client is open.
        reconnectStrategy: (retries) => (opened ? Math.min(50 * 2 ** retries, 2000) : false),
      },
      ...(password === undefined ? {} : { password }),
    });
    let opened = false;
    // Every command already rejects with what went wrong; without a listener Node would end the process.
    client.on("error", () => {});
    await this.#inTime(
      () => client.connect(),
      () => client.destroy(),
    );
    opened = true;
    client.unref();
    return client as unknown as Client;
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

function bytesOf(argument: string | Uint8Array): string | Buffer {
  return typeof argument === "string" ? argument : Buffer.from(argument);
}

/** A reply as every transport gives it. */
function replyOf(reply: unknown): Reply {
  if (typeof reply === "string") return integer(reply);
  if (reply instanceof Uint8Array) return decoder.decode(reply);
  if (reply instanceof Error) return HotKVError.fromReply(reply.message);
  // A map's names are text.
  if (reply instanceof Map) return new Map([...reply].map(([name, value]) => [name as string, replyOf(value)]));
  return Array.isArray(reply) ? reply.map(replyOf) : (reply as Reply);
}
