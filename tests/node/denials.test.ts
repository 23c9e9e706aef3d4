import assert from "node:assert/strict";
import { it } from "node:test";
import { DenialCache } from "../../pkg/dist/workers/denials.js";

it("F39: whatever may end a refusal ends what is known of it, also when it names the key in bytes", () => {
  for (const key of ["key", new TextEncoder().encode("key")]) {
    const denials = new DenialCache();
    const ask = ["GCRA.LIMIT", "key", 60_000, 1] as const;
    denials.note(ask, [1, 1, 0, 60_000, 60_000], 0, denials.epoch, 1000);
    assert.deepEqual(denials.answer(ask, 1), [1, 1, 0, 59_999, 59_999]);
    denials.answer(["GCRA.RESET", key], 2);
    assert.equal(denials.answer(ask, 3), undefined);
  }
});
