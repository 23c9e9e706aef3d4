import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "../hotkv.ts";
import { bar, duration, isStyled, styled } from "./terminal.ts";

const WIDTH = 40;

/** Shows what is left of `key`'s budget until Ctrl-C: one line drawn over on a terminal, a line a look elsewhere. */
export async function watch(
  client: Client,
  name: string,
  key: string,
  { every, count = Number.POSITIVE_INFINITY }: { readonly every: number; readonly count?: number },
): Promise<void> {
  const live = isStyled(process.stdout);
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.once("SIGINT", onSignal);
  try {
    for (let look = 0; look < count && !stop.signal.aborted; look++) {
      if (look > 0) await sleep(every, undefined, { signal: stop.signal });
      const { allowed, remaining, limit, retryAfterMs } = await client.rateLimitPeek(name, key);
      const share = remaining / limit;
      const style = allowed ? (share > 0.25 ? "green" : "yellow") : "red";
      const wait = allowed ? "" : ` next in ${duration(retryAfterMs)}`;
      const line = `${name} ${key} ${styled(style, bar(share, WIDTH))} ${remaining}/${limit}${wait}`;
      process.stdout.write(live ? `\r\x1b[K${line}` : `${line}\n`);
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    process.off("SIGINT", onSignal);
    if (live) process.stdout.write("\n");
  }
}
