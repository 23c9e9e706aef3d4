import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fill } from "../../benches/report/fill.ts";
import type { Results } from "../../benches/results.ts";
import { judge, type Target } from "../../benches/targets.ts";

const of = (ours: number[], theirs: number[]) => (): Results => ({
  machine: "",
  date: "",
  values: { ours: { ns: ours }, theirs: { ns: theirs } },
});
const ratio: Target = {
  what: "",
  ours: ["", "ours", "ns"],
  theirs: ["", "theirs", "ns"],
  aim: "faster",
  target: 5,
  unit: "ns",
};

describe("a target", () => {
  it("is met by the medians, not by the best round", () => {
    assert.equal(judge(ratio, of([100, 10, 120], [500, 500, 500]))?.met, true);
    assert.equal(judge(ratio, of([101, 10, 120], [500, 500, 500]))?.met, false);
  });

  it("of a rate is ours over theirs, and of a bound is ours alone", () => {
    assert.equal(judge({ ...ratio, aim: "more" }, of([500], [100]))?.met, true);
    assert.equal(judge({ ...ratio, aim: "more" }, of([499], [100]))?.met, false);
    const { theirs, ...alone } = ratio;
    assert.equal(judge({ ...alone, aim: "most" }, of([5], []))?.met, true);
    assert.equal(judge({ ...alone, aim: "most" }, of([5.1], []))?.met, false);
  });

  it("is not judged before it was measured", () => {
    assert.equal(
      judge(ratio, () => undefined),
      undefined,
    );
  });
});

describe("the report", () => {
  it("fills its blocks and leaves what people wrote", () => {
    const text = "Before.\n<!-- a -->\nold\n<!-- / -->\nBetween.\n<!-- b -->\n<!-- / -->\n";
    const filled = "Before.\n<!-- a -->\nA\n<!-- / -->\nBetween.\n<!-- b -->\nB\n<!-- / -->\n";
    assert.equal(fill(text, { a: () => "A", b: () => "B" }), filled);
  });

  it("wants a maker for each block, and a block for each maker", () => {
    assert.throws(() => fill("<!-- a -->\n<!-- / -->", {}), /block a/);
    assert.throws(() => fill("", { a: () => "A" }), /no block for a/);
  });
});
