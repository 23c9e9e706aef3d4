import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { TestWorker } from "./harness.ts";

let worker: TestWorker;
before(async () => {
  worker = await TestWorker.start();
});
after(() => worker?.stop());

describe("refusals of a named limiter", () => {
  it("are stored within 10 s, without a write for each", async () => {
    const options = { namespace: "denials" };
    await worker.run(options, [["RATELIMIT.CREATE", "api", 1, 3_600_000]]);
    await worker.run(options, [["RATELIMIT.CHECK", "api", "k"]]);
    await worker.count();
    for (let time = 0; time < 5; time++) await worker.run(options, [["RATELIMIT.CHECK", "api", "k"]]);
    assert.equal((await worker.count()).written, 0);
    await new Promise((done) => setTimeout(done, 10_500));
    assert.equal((await worker.count()).written, 1);
    await worker.workerd.kill();
    await worker.workerd.start();
    const [stats] = await worker.run(options, [["RATELIMIT.STATS", "api"]]);
    assert.deepEqual((stats as unknown[]).slice(10), ["total_allowed", 1, "total_denied", 5]);
  });
});
