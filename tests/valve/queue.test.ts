import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";

interface Taken {
  readonly bytesPerJob: number;
  readonly calls: number;
  readonly timers: number;
  readonly most: number;
  readonly done: number;
  readonly inOrder: boolean;
}

/** What so many queued jobs take until all are done, in a process of its own. */
function take(jobs: number): Taken {
  const program = new URL("queue.ts", import.meta.url).pathname;
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--expose-gc", program, String(jobs)], {
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

describe("100,000 queued jobs", () => {
  it("take as much memory, as many store calls and as many timers each as 10,000, and all start in their order", () => {
    const [few, many] = [take(10_000), take(100_000)];
    assert.deepEqual([many.done, many.inOrder, many.most], [100_000, true, 1]);
    // A thousand start in a window, asked for by 64; the sixteenth call is told when the next window begins.
    for (const { calls, timers, done } of [few, many]) {
      assert.ok(calls <= (done / 1000) * 16 + 20, `${calls} calls for ${done} jobs`);
      assert.ok(timers <= done / 1000 + 2, `${timers} timers for ${done} jobs`);
    }
    assert.ok(many.bytesPerJob <= 2000, `${many.bytesPerJob} bytes a job`);
    assert.ok(many.bytesPerJob <= few.bytesPerJob * 1.2, `${many.bytesPerJob} after ${few.bytesPerJob} bytes a job`);
  });
});
