import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Engine, type LimiterOptions, type SimulatedRule, simulate } from "tidegate";

const START = 1_764_547_200_000;

/** Arrivals in bursts and gaps, with costs; the same in every run. */
function arrivals(count: number, costly: boolean): { times: Float64Array; costs: Float64Array } {
  const times = new Float64Array(count);
  const costs = new Float64Array(count);
  let now = START;
  for (let index = 0; index < count; index++) {
    now += index % 50 === 0 ? 7001 : (index * index) % 23;
    times[index] = now;
    costs[index] = costly ? 1 + (index % 4) : 1;
  }
  return { times, costs };
}

describe("a simulation decides what an engine decides", () => {
  const rules: readonly (readonly [SimulatedRule, LimiterOptions])[] = [
    [{ algorithm: "gcra", limit: 7, interval: 1000, burst: 7 }, { algo: "gcra" }],
    [
      { algorithm: "token-bucket", limit: 7, interval: 1000, rate: "6.5" },
      { algo: "token_bucket", refill: "6.5" },
    ],
    [{ algorithm: "token-bucket", limit: 7, interval: 1000 }, { algo: "token_bucket" }],
    [
      { algorithm: "leaky-bucket", limit: 7, interval: 1000, rate: "0.3" },
      { algo: "leaky_bucket", drain: "0.3" },
    ],
    [{ algorithm: "fixed-window", limit: 7, interval: 1000 }, { algo: "fixed_window" }],
    [{ algorithm: "sliding-window", limit: 7, interval: 1000 }, { algo: "sliding_window" }],
  ];
  for (const [rule, options] of rules) {
    it(JSON.stringify(rule), () => {
      let now = START;
      using engine = new Engine({ clock: () => now });
      engine.rateLimitCreate("lim", rule.limit, rule.interval, options);
      const { times, costs } = arrivals(2000, true);
      const result = simulate([rule], { times, costs, levels: true });
      times.forEach((time, index) => {
        now = time;
        const check = engine.rateLimitCheck("lim", "k", { cost: costs[index] as number });
        assert.deepEqual(
          [result.allowed[index], result.remaining[index], result.retryAfterMs[index], result.blockedBy[index]],
          [Number(check.allowed), check.remaining, check.retryAfterMs, check.allowed ? 0 : 1],
          `arrival ${index} at ${time}`,
        );
        // The level is what a check's whole numbers round: units in use, up to the next whole one.
        const used = check.limit - check.remaining;
        const level = result.levels[0]?.[index] as number;
        assert.ok(Math.abs(Math.ceil(level - 1e-6) - used) === 0, `arrival ${index}: level ${level}, used ${used}`);
      });
    });
  }

  it("a policy of several rules spends from all of them or from none", () => {
    const fast: SimulatedRule = { algorithm: "gcra", limit: 10, interval: 1000, burst: 5 };
    const slow: SimulatedRule = { algorithm: "fixed-window", limit: 8, interval: 60_000 };
    const times = Float64Array.from({ length: 30 }, (_, index) => START + index * 50);
    const result = simulate([fast, slow], { times, levels: true });
    const admitted = result.allowed.reduce((sum, one) => sum + one, 0);
    assert.equal(admitted, 8);
    assert.equal(result.levels[1]?.at(-1), 8);
    // 5 at once and one every 100 ms: half of the arrivals after the burst, until the window is full.
    assert.deepEqual([...result.allowed.slice(0, 12)], [1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0]);
    assert.deepEqual([...result.blockedBy.slice(7, 12)], [0, 2, 2, 2, 2]);
    assert.equal(result.retryAfterMs[29], 60_000 - 29 * 50);
    assert.equal(result.remaining[29], 0);
  });

  it("a cost that can never pass has retry -1", () => {
    const result = simulate([{ algorithm: "gcra", limit: 10, interval: 1000, burst: 2 }], {
      times: Float64Array.of(START),
      costs: Float64Array.of(3),
    });
    assert.deepEqual([result.allowed[0], result.retryAfterMs[0], result.remaining[0]], [0, -1, 2]);
  });
});

describe("what can't be simulated is refused by name", () => {
  const times = Float64Array.of(START);
  const rule: SimulatedRule = { algorithm: "gcra", limit: 1, interval: 1 };
  const wrong: readonly (readonly [string, () => unknown])[] = [
    ["rules", () => simulate([], { times })],
    ["rules", () => simulate("gcra" as never, { times })],
    ["rules[0]", () => simulate([null as never], { times })],
    ["options", () => simulate([rule], null as never)],
    ["rules[0].windowMs", () => simulate([{ ...rule, windowMs: 1 } as SimulatedRule], { times })],
    ["cost", () => simulate([rule], { times, cost: 1 } as never)],
    ["rules[0].limit", () => simulate([{ ...rule, limit: Number.NaN }], { times })],
    ["rules[0].interval", () => simulate([{ ...rule, interval: 0 }], { times })],
    ["rules[1].burst", () => simulate([rule, { ...rule, burst: 1.5 } as SimulatedRule], { times })],
    ["rules[0].burst", () => simulate([{ ...rule, interval: 2 ** 52, burst: 2 ** 52 } as SimulatedRule], { times })],
    ["rules[0].algorithm", () => simulate([{ ...rule, algorithm: "nope" } as never], { times })],
    ["rules[0].rate", () => simulate([{ algorithm: "token-bucket", limit: 1, interval: 1, rate: "1e3" }], { times })],
    ["times", () => simulate([rule], { times: [1] as never })],
    ["times[0]", () => simulate([rule], { times: Float64Array.of(1.5) })],
    ["times[1]", () => simulate([rule], { times: Float64Array.of(1, -1) })],
    ["times[2]", () => simulate([rule], { times: Float64Array.of(1, 3, 2) })],
    ["costs", () => simulate([rule], { times, costs: Float64Array.of(1, 2) })],
    ["costs[0]", () => simulate([rule], { times, costs: Float64Array.of(0) })],
  ];
  for (const [argument, call] of wrong) {
    it(argument, () => assert.throws(call, { code: "INVALID_ARGUMENT", argument }));
  }
});
