import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compare } from "../../benches/native/instructions/compare.ts";

const kept = { "fixed window": 700, gcra: 400 };

describe("the guard of the instruction counts", () => {
  it("lets a count rise by 3 %", () => {
    assert.deepEqual(compare(kept, { "fixed window": 700, gcra: 412 }), { faults: [], fell: [] });
  });

  it("fails above that, with both figures", () => {
    const { faults } = compare(kept, { "fixed window": 700, gcra: 412.4 });
    assert.deepEqual(faults, ["gcra: 400 instructions are kept, 412.4 counted (+3.1 %)"]);
  });

  it("tells what fell, and fails on nothing else for it", () => {
    const fell = ["gcra: 400 instructions are kept, 300 counted (-25.0 %)"];
    assert.deepEqual(compare(kept, { "fixed window": 700, gcra: 300 }), { faults: [], fell });
  });

  it("fails on a case without a figure, and on a figure without a case", () => {
    const { faults } = compare(kept, { gcra: 400, sliding: 900 });
    assert.deepEqual(faults, [
      "sliding: 900 instructions, and no figure is kept to compare with",
      "fixed window: a figure is kept, and nothing counts it",
    ]);
  });
});
