import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Engine } from "tidegate";
import { parseReply, policyCases, resp, type VectorReply } from "./vectors.ts";

for (const file of ["reference-policies", "shared-policies"] as const) {
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
        for (const [step, { at, cost, scope, reply }] of steps.entries()) {
          now = at;
          const scopes = Object.entries(scope).flatMap(([dimension, identity]) => ["SCOPE", dimension, identity]);
          const got = run("VALVE.ADMIT", "ns", defined, String(cost), ...scopes);
          const label = `step ${step}: cost ${cost} at ${at}`;
          if ("error" in reply) assert.equal(errorCode(got), reply.error, label);
          else assert.deepEqual(got, [Number(reply.allowed), reply.retryAfterMs, reply.blockedBy ?? []], label);
        }
      });
    }
  });
}

function errorCode(reply: VectorReply): string | undefined {
  return reply !== null && typeof reply === "object" && "error" in reply ? reply.error.split(" ")[0] : undefined;
}
