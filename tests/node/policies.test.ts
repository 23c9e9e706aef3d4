import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Engine } from "tidegate";
import { admitCommand, POLICY_FILES, parseReply, policyCases, resp, type VectorReply } from "./vectors.ts";

for (const file of POLICY_FILES) {
  describe(`${file}: every case holds through execute`, () => {
    for (const { name, rate, error, steps } of policyCases(file)) {
      it(name, () => {
        let now = 1_764_547_200_000;
        using engine = new Engine({ clock: () => now });
        const run = (...command: string[]): VectorReply => parseReply(engine.execute(resp(command)));
        const defined = run("VALVE.DEFINE", "ns", JSON.stringify(rate));
        if (error !== undefined) {
          assert.equal(errorCode(defined), error);
          return;
        }
        assert.ok(typeof defined === "string" && /^[0-9a-f]{64}$/.test(defined), `no fingerprint: ${defined}`);
        for (const [index, step] of steps.entries()) {
          const { at, cost, reply } = step;
          now = at;
          const got = run(...admitCommand(defined, step));
          const label = `step ${index}: cost ${cost} at ${at}`;
          if ("error" in reply) assert.equal(errorCode(got), reply.error, label);
          else {
            const { allowed, retryAfterMs, startsInMs, blockedBy = [] } = reply;
            assert.deepEqual(got, [Number(allowed), startsInMs ?? retryAfterMs, blockedBy], label);
          }
        }
      });
    }
  });
}

function errorCode(reply: VectorReply): string | undefined {
  return reply !== null && typeof reply === "object" && "error" in reply ? reply.error.split(" ")[0] : undefined;
}
