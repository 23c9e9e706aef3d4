import { connect } from "node:net";
import { cpus } from "node:os";
import { encodeCommands } from "../resp/encode.ts";

/** What a measurement is made with. */
export interface BenchOptions {
  readonly clients: number;
  readonly pipeline: number;
  readonly seconds: number;
  readonly keys: number;
}

/**
 * Sends `GCRA.LIMIT` over many connections, `pipeline` commands in flight on each, and prints requests a second and the
 * latency of a pipeline.
 */
export async function bench(url: string, { clients, pipeline, seconds, keys }: BenchOptions): Promise<void> {
  const { hostname, port } = new URL(url);
  const end = performance.now() + seconds * 1000;
  const latencies: number[] = [];
  let replies = 0;
  const client = (index: number) =>
    new Promise<void>((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port || 6379), noDelay: true });
      // Every connection walks over the keys from its own start.
      let next = index * pipeline;
      let due = 0;
      let sent = 0;
      const send = () => {
        const commands = Array.from({ length: pipeline }, () => {
          return ["GCRA.LIMIT", `bench:${next++ % keys}`, 60_000, 1_000_000] as const;
        });
        due = pipeline * LINES_A_REPLY;
        sent = performance.now();
        socket.write(encodeCommands(commands));
      };
      socket.on("connect", send);
      socket.on("data", (bytes) => {
        for (const byte of bytes) if (byte === NEWLINE) due--;
        if (due > 0) return;
        latencies.push(performance.now() - sent);
        replies += pipeline;
        if (performance.now() < end) send();
        else socket.end();
      });
      socket.on("error", reject);
      socket.on("close", () => resolve());
    });
  const start = performance.now();
  await Promise.all(Array.from({ length: clients }, (_, index) => client(index)));
  const elapsed = (performance.now() - start) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number) => (latencies[Math.floor(share * (latencies.length - 1))] ?? 0).toFixed(2);
  console.log(
    `${clients} connections, pipeline ${pipeline}, ${keys} keys, ${elapsed.toFixed(1)} s, ${cpus().length} cores`,
  );
  console.log(`${Math.round(replies / elapsed).toLocaleString("en-US")} requests a second`);
  console.log(`a pipeline's latency in ms: median ${at(0.5)}, 99 % ${at(0.99)}, longest ${at(1)}`);
}

/** `*5` and its five integers. */
const LINES_A_REPLY = 6;
const NEWLINE = 10;
