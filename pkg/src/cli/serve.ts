import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { openHost } from "../server/engine_host.ts";
import { createLog, type LogFormat } from "../server/log.ts";
import { type Server, serve } from "../server/server.ts";

/** The options of `tidegate serve`, as the command line gives them. */
export interface ServeCommandOptions {
  readonly host: string;
  readonly port: number;
  readonly data?: string;
  readonly passwordFile?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly maxClients: number;
  readonly maxMemoryKeys?: number;
  readonly idleTimeout: number;
  readonly metricsPort?: number;
  readonly logFormat: LogFormat;
}

/** Serves until SIGINT or SIGTERM, then answers what has arrived, stores everything and ends. */
export async function serveCommand(options: ServeCommandOptions): Promise<void> {
  const { host, port, maxClients, tlsCert, tlsKey } = options;
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw new Error("--tls-cert and --tls-key go together: give both or neither");
  }
  const password = options.passwordFile === undefined ? undefined : firstLine(options.passwordFile);
  const log = createLog(options.logFormat, (line) => process.stderr.write(line));
  const engine = openHost({
    ...(options.data === undefined ? {} : { path: options.data }),
    ...(options.maxMemoryKeys === undefined ? {} : { maxKeys: options.maxMemoryKeys }),
  });
  let server: Server;
  try {
    server = await serve(engine, {
      host,
      port,
      maxClients,
      idleMs: options.idleTimeout * 1000,
      log,
      ...(password === undefined ? {} : { password }),
      ...(tlsCert === undefined || tlsKey === undefined ? {} : { tls: { cert: tlsCert, key: tlsKey } }),
    });
  } catch (error) {
    engine.close();
    throw error;
  }
  const metrics = options.metricsPort === undefined ? undefined : await serveMetrics(server, options.metricsPort);
  if (metrics) log.info("metrics", { port: metrics.port });

  await new Promise<void>((resolve) => {
    process.once("SIGINT", resolve);
    process.once("SIGTERM", resolve);
  });
  log.info("stopping", { clients: server.clients });
  metrics?.close();
  await server.close();
}

async function serveMetrics(server: Server, port: number): Promise<{ readonly port: number; close(): void }> {
  const listener = createServer((request, response) => {
    if (request.url === "/metrics") {
      response.setHeader("content-type", "text/plain; version=0.0.4");
      try {
        response.end(server.metrics());
      } catch (error) {
        // A file that can't be read has no figures; the server goes on, since it may be back.
        response.statusCode = 503;
        response.end(`${error}\n`);
      }
    } else if (request.url === "/health") {
      response.end("ok\n");
    } else {
      response.statusCode = 404;
      response.end("here are /metrics and /health\n");
    }
  });
  await new Promise<void>((resolve, reject) => {
    listener.once("error", reject);
    listener.listen(port, "127.0.0.1", resolve);
  });
  const address = listener.address();
  return { port: typeof address === "object" && address ? address.port : port, close: () => listener.close() };
}

function firstLine(path: string): string {
  const [line = ""] = readFileSync(path, "utf8").split(/\r?\n/, 1);
  if (line === "") throw new Error(`${path} must hold the password in its first line, and that line is empty`);
  return line;
}
