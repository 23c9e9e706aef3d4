import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const BUILT = fileURLToPath(new URL("../../www/dist/", import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".woff2": "font/woff2",
};

/** What `/v1/command` answers. */
interface CommandAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** The built page on loopback, compressed as a host would, and what went over the wire. */
export interface Served {
  readonly url: string;
  /** Bytes of every answer so far, by path. */
  readonly sent: Map<string, number>;
  /** Answers `/v1/command`; none does at first. */
  command: (args: readonly unknown[], token: string | undefined) => CommandAnswer | Promise<CommandAnswer>;
  close(): Promise<void>;
}

/** Serves the built page on a free port. */
export async function serve(): Promise<Served> {
  const sent = new Map<string, number>();
  const served: Pick<Served, "command"> = {
    command: () => ({ status: 404, body: { detail: "there is no store here" } }),
  };
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.writeHead(404).end());
  });
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    if (path === "/v1/command") {
      let body = "";
      for await (const part of request) body += part;
      const { status, body: reply } = await served.command(JSON.parse(body), request.headers.authorization);
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(reply));
      return;
    }
    const file = path === "/" ? "index.html" : normalize(path).slice(1);
    const bytes = gzipSync(await readFile(join(BUILT, file)), { level: 9 });
    sent.set(path, (sent.get(path) ?? 0) + bytes.length);
    const type = TYPES[extname(file)] ?? "application/octet-stream";
    response
      .writeHead(200, { "content-type": type, "content-encoding": "gzip", "cache-control": "no-store" })
      .end(bytes);
  };
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  return Object.assign(served, {
    url: `http://127.0.0.1:${port}/`,
    sent,
    close: () =>
      new Promise<void>((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  });
}
