import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { startServer } from "../resp/server.ts";
import { mostInAnyWindow } from "./virtual.ts";

/** A worker of its own process: it runs jobs and prints when each started and how long its slowest call of the store took. */
const WORKER = `
import { HotKV, Valve } from "tidegate";
const store = new HotKV({ url: process.env.STORE });
let slowest = 0;
const timed = {
  pipeline: async (commands) => {
    const sent = performance.now();
    const replies = await store.pipeline(commands);
    slowest = Math.max(slowest, performance.now() - sent);
    return replies;
  },
};
const valve = new Valve({ store: timed, namespace: "shared", rate: { limit: 50, interval: "1s", burst: 10 } });
const starts = [];
await Promise.all(Array.from({ length: 60 }, () => valve.run(() => void starts.push(Date.now()))));
await store.close();
console.log(JSON.stringify({ starts, slowest }));
`;

describe("processes that share a store", () => {
  it("never start more together than the policy allows, in any window", async () => {
    await using server = await startServer();
    const env = { ...process.env, STORE: `hotkv://127.0.0.1:${server.port}` };
    const run = promisify(execFile);
    const workers = [1, 2, 3].map(() =>
      run(process.execPath, ["--input-type=module", "-e", WORKER], { env, timeout: 60_000 }),
    );
    const logs = (await Promise.all(workers)).map(
      ({ stdout }) => JSON.parse(stdout) as { readonly starts: readonly number[]; readonly slowest: number },
    );
    const starts = logs.flatMap(({ starts }) => starts).sort((a, b) => a - b);
    assert.equal(starts.length, 180);
    // A job starts at most one call after its admission, so starts this close together were admitted within a second.
    const window = Math.max(1, 999 - Math.ceil(Math.max(...logs.map(({ slowest }) => slowest))));
    assert.ok(mostInAnyWindow(starts, window) <= 50 + 10 - 1, `${mostInAnyWindow(starts, window)} in ${window} ms`);
    // 170 of them had to wait 20 ms each.
    assert.ok((starts.at(-1) ?? 0) - (starts[0] ?? 0) >= 3300);
  });
});
