import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { unstable_startWorker as startWorker } from "wrangler";

let worker;
before(async () => {
  worker = await startWorker({
    config: "wrangler.jsonc",
    dev: { logLevel: "error", server: { port: 0 }, inspector: false },
  });
});
after(() => worker?.dispose());

/** Asks the Worker, in workerd, as the client with this key. */
const ask = (key, path = "/") => worker.fetch(`http://example.com${path}`, { headers: { "X-API-Key": key } });

describe("the Worker", () => {
  it("answers, and says how much is left", async () => {
    const response = await ask("first");
    assert.equal(response.status, 200);
    assert.equal(await response.text(), "hello from /\n");
    assert.match(response.headers.get("RateLimit"), /^"burst";r=9;t=1, ?"daily";r=999;t=87$/);
  });

  it("admits exactly ten of forty requests at once, and tells the others when to come back", async () => {
    const responses = await Promise.all(Array.from({ length: 40 }, () => ask("second")));
    const refused = responses.filter(({ status }) => status === 429);
    // A second brings one more, should this take that long.
    assert.ok(refused.length >= 28 && refused.length <= 30, `${refused.length} refused`);
    assert.equal(refused[0].headers.get("Retry-After"), "1");
    const problem = await refused[0].json();
    assert.deepEqual(problem["violated-policies"], ["burst"]);
    await Promise.all(responses.slice(1).map((response) => response.bodyUsed || response.arrayBuffer()));
  });

  it("keeps clients apart, and counts nobody's health checks", async () => {
    assert.match((await ask("third")).headers.get("RateLimit"), /"burst";r=9/);
    assert.equal((await ask("third", "/health")).headers.get("RateLimit"), null);
    assert.match((await ask("third")).headers.get("RateLimit"), /"burst";r=8/);
  });
});
