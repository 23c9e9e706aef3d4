import { readFileSync } from "node:fs";
import * as net from "node:net";
import * as tls from "node:tls";
import { assertFields } from "../arguments.ts";
import { HotKVError } from "../errors.ts";
import { type CloseReason, Connection, type ConnectionLimits } from "./connection.ts";
import { Histogram } from "./histogram.ts";
import type { Host } from "./host.ts";
import { type Log, silent } from "./log.ts";

/** How a server is started. */
export interface ServeOptions {
  /** Address to listen on. Anything but loopback needs a password. Default `127.0.0.1`. */
  readonly host?: string;
  /** Port to listen on; 0 takes a free one. Default 6379. */
  readonly port?: number;
  /** Clients must send it with `AUTH` or `HELLO … AUTH` before anything else. */
  readonly password?: string;
  /** Paths of a PEM certificate and key: with both, clients connect over TLS. */
  readonly tls?: {
    /** Path of the certificate. */
    readonly cert: string;
    /** Path of its private key. */
    readonly key: string;
  };
  /** The most clients at once; one more is told so and closed. Default 10,000. */
  readonly maxClients?: number;
  /** Milliseconds without a byte before a client is closed; 0 (the default) never. */
  readonly idleMs?: number;
  /** Where to log; silent by default. */
  readonly log?: Log;
}

/** A running server. */
export interface Server {
  /** The address it listens on. */
  readonly host: string;
  /** The port it listens on. */
  readonly port: number;
  /** Clients connected now. */
  readonly clients: number;
  /** Its figures as Prometheus text. */
  metrics(): string;
  /** Takes no more clients, answers what has arrived, stores everything and lets go. */
  close(): Promise<void>;
}

const STALL_MS = 30_000;
/** How long closing waits for clients that do not take their replies. */
const CLOSE_MS = 5000;
/** How long a client that was turned away may take to read so. */
const TURNED_AWAY_MS = 1000;

/**
 * Serves `engine` to clients that speak RESP.
 *
 * Chunks that arrive in one turn of the event loop are decided together and committed once; their replies leave after that
 * commit.
 */
export async function serve(engine: Host, options: ServeOptions = {}): Promise<Server> {
  assertFields(options, ["host", "port", "password", "tls", "maxClients", "idleMs", "log"]);
  const { host = "127.0.0.1", port = 6379, password, maxClients = 10_000, idleMs = 0, log = silent } = options;
  if (password === undefined && !isLoopback(host)) {
    throw new Error(
      `refusing to listen on ${host} without a password, since anyone could then spend and reset every limit; ` +
        "set one with --password-file, or listen on 127.0.0.1",
    );
  }
  const limits: ConnectionLimits = { idleMs, stallMs: STALL_MS };
  const connections = new Set<Connection>();
  const started = Date.now();
  const latency = new Histogram([0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1]);
  const closed = new Map<CloseReason, number>();
  let accepted = 0;
  let rejected = 0;

  // What has arrived since the last commit, all chunks of a connection together: what the first of them asks for, to close or to
  // wait, is for those behind it too. One `setImmediate` takes all of it.
  let arrived = new Map<Connection, Uint8Array[]>();
  const decide = () => {
    const batch = [...arrived];
    if (batch.length === 0) return;
    arrived = new Map();
    const start = performance.now();
    try {
      const replies = engine.commit(() => batch.map(([connection, chunks]) => connection.feed(joined(chunks))));
      for (const [at, [connection]] of batch.entries()) connection.reply(replies[at] ?? new Uint8Array());
    } catch (error) {
      // Nothing of the batch is promised. Its clients are told why, once: how many replies each waits for went with the batch, so
      // closing has to answer the rest.
      log.warn("store failed", { error: String(error), clients: batch.length });
      for (const [connection] of batch) connection.fail(errorReply(error));
    }
    latency.record((performance.now() - start) / 1000);
  };
  const onChunk = (connection: Connection, chunk: Uint8Array) => {
    const chunks = arrived.get(connection);
    if (chunks !== undefined) {
      chunks.push(chunk);
      return;
    }
    if (arrived.size === 0) setImmediate(decide);
    arrived.set(connection, [chunk]);
  };

  const onSocket = (socket: net.Socket) => {
    if (connections.size >= maxClients) {
      rejected++;
      socket.on("error", () => {});
      socket.end("-ERR max number of clients reached\r\n");
      socket.resume();
      // One that does not close its side must hold no socket either.
      setTimeout(() => socket.destroy(), TURNED_AWAY_MS);
      return;
    }
    accepted++;
    const session = engine.openSession(password === undefined ? {} : { password });
    const connection = new Connection(socket, session, limits, onChunk, (reason) => {
      connections.delete(connection);
      closed.set(reason, (closed.get(reason) ?? 0) + 1);
      if (reason !== "client") log.info("client closed", { reason });
    });
    connections.add(connection);
  };

  const listener = options.tls
    ? tls.createServer(
        { cert: readFileSync(options.tls.cert), key: readFileSync(options.tls.key), allowHalfOpen: true },
        onSocket,
      )
    : net.createServer({ allowHalfOpen: true }, onSocket);
  await new Promise<void>((resolve, reject) => {
    listener.once("error", reject);
    listener.listen(port, host, resolve);
  });
  listener.on("error", (error) => log.warn("listener failed", { error: error.message }));
  if (options.tls) listener.on("tlsClientError", (error: Error) => log.info("tls refused", { error: error.message }));
  const address = listener.address() as net.AddressInfo;
  log.info("listening", { host, port: address.port, tls: options.tls !== undefined });

  return {
    host,
    port: address.port,
    get clients() {
      return connections.size;
    },
    metrics() {
      const { commands, records, memoryBytes } = engine.stats();
      const decisions = commands.map(
        ({ command, outcome, count }) => `tidegate_commands_total{command="${command}",outcome="${outcome}"} ${count}`,
      );
      const ends = [...closed].map(
        ([reason, count]) => `tidegate_connections_closed_total{reason="${reason}"} ${count}`,
      );
      return [
        "# TYPE tidegate_commands_total counter",
        ...decisions,
        "# TYPE tidegate_records gauge",
        `tidegate_records ${records}`,
        "# TYPE tidegate_memory_bytes gauge",
        `tidegate_memory_bytes ${memoryBytes}`,
        "# TYPE tidegate_clients gauge",
        `tidegate_clients ${connections.size}`,
        "# TYPE tidegate_connections_accepted_total counter",
        `tidegate_connections_accepted_total ${accepted}`,
        "# TYPE tidegate_connections_rejected_total counter",
        `tidegate_connections_rejected_total ${rejected}`,
        "# TYPE tidegate_connections_closed_total counter",
        ...ends,
        "# TYPE tidegate_uptime_seconds gauge",
        `tidegate_uptime_seconds ${Math.floor((Date.now() - started) / 1000)}`,
        "# HELP tidegate_batch_seconds Time to decide and store what arrived together.",
        "# TYPE tidegate_batch_seconds histogram",
        latency.expose("tidegate_batch_seconds"),
      ].join("\n");
    },
    async close() {
      const stopped = new Promise<void>((resolve) => listener.close(() => resolve()));
      decide();
      for (const connection of connections) connection.end("shutdown");
      const late = setTimeout(() => {
        for (const connection of connections) connection.destroy("shutdown");
      }, CLOSE_MS);
      await stopped;
      clearTimeout(late);
      engine.close();
      log.info("stopped", { served: accepted });
    },
  };
}

/** An error as a reply, whose first word is its code. */
function errorReply(error: unknown): string {
  const { code, message } = error instanceof HotKVError ? error : { code: "ERR", message: String(error) };
  return `-${code} ${message.replace(/[\r\n]+/g, " ")}\r\n`;
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
}

/** Whether only this machine can reach `host`. */
function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}
