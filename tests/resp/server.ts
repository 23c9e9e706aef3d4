import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { nodeWithin } from "../full_disk.ts";

const main = fileURLToPath(new URL("../../pkg/dist/cli/main.js", import.meta.url));

/** A `tidegate serve` of its own process. */
export interface Running extends AsyncDisposable {
  readonly port: number;
  readonly process: ChildProcess;
  /** What it logged so far. */
  readonly log: readonly { readonly event: string; readonly port?: number }[];
  /** Ends it as an operator would; its exit status. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts `tidegate serve` on a free port and waits until it listens. */
export function startServer(...args: readonly string[]): Promise<Running> {
  return started(process.execPath, [main, "serve", "--port", "0", ...args]);
}

/** As {@link startServer}, where no file can grow past so many blocks, which looks like a full disk. */
export function startServerWithin(blocks: number, ...args: readonly string[]): Promise<Running> {
  const [program, ...first] = nodeWithin(blocks);
  return started(program, [...first, main, "serve", "--port", "0", ...args]);
}

async function started(program: string, args: readonly string[]): Promise<Running> {
  const child = spawn(program, args, { stdio: ["ignore", "inherit", "pipe"] });
  const log: Running["log"][number][] = [];
  const exited = once(child, "exit");
  const lines = createInterface({ input: child.stderr });
  const port = await new Promise<number>((resolve, reject) => {
    lines.on("line", (line) => {
      try {
        const entry = JSON.parse(line) as Running["log"][number];
        log.push(entry);
        if (entry.event === "listening") resolve(entry.port ?? 0);
      } catch {
        reject(new Error(line));
      }
    });
    void exited.then(() => setImmediate(reject, new Error("the server ended before it listened")));
  });
  const stop = async (signal: NodeJS.Signals = "SIGTERM") => {
    child.kill(signal);
    await exited;
    return child.exitCode;
  };
  return { port, process: child, log, stop, [Symbol.asyncDispose]: async () => void (await stop("SIGKILL")) };
}

/** A socket that keeps what it was sent. */
export class RawClient implements AsyncDisposable {
  readonly socket: Socket;
  received = "";
  readonly closed: Promise<unknown>;

  constructor(port: number) {
    this.socket = connect({ host: "127.0.0.1", port, noDelay: true });
    this.closed = new Promise((resolve) => this.socket.once("close", resolve));
    this.socket.on("data", (bytes) => {
      this.received += bytes.toString("latin1");
    });
    this.socket.on("error", () => {});
  }

  send(bytes: string | Uint8Array): void {
    this.socket.write(bytes);
  }

  /** Waits until `count` lines arrived; all that did. */
  async lines(count: number): Promise<string> {
    while (this.received.split("\r\n").length <= count) {
      await Promise.race([once(this.socket, "data"), this.closed.then(() => Promise.reject(new Error("closed")))]);
    }
    return this.received;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy();
    await this.closed;
  }
}

/** A command as RESP. */
export function resp(...words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`;
}
