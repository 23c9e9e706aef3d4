import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Engine, type LimiterAlgorithm } from "tidegate";
import { parseReply, resp } from "./vectors.ts";

/** Numbers from 0 up to `below` that are the same in every run: xorshift32. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return Math.floor(((state >>> 0) / 2 ** 32) * below);
  };
}

const keys = ["", "a", "user:42", "exactly four..", "ключ", "🌊🌊", "a\0b", "x".repeat(4096), "水".repeat(1365)];
const sizes = [1, 2, 3, 7, 10, 600, 1000, 60_000, 86_400_000, 2 ** 31, 2 ** 31 + 1, 2 ** 52, Number.MAX_SAFE_INTEGER];

describe("the fast entries decide what execute decides", () => {
  for (let seed = 1; seed <= 20; seed++) {
    it(`GCRA.LIMIT, trace ${seed}`, () => {
      const random = randomFrom(seed * 7919);
      const pick = <T>(from: readonly T[]) => from[random(from.length)] as T;
      let now = 1_764_547_200_000;
      using fast = new Engine({ clock: () => now });
      using whole = new Engine({ clock: () => now });
      for (let step = 0; step < 300; step++) {
        now += random(10) === 0 ? -random(5000) : random(2000);
        const [key, period, burst] = [pick(keys), pick(sizes), pick(sizes)];
        const count = random(3) === 0 ? pick(sizes) : 1 + random(3);
        const result = fast.gcraLimit(key, period, burst, count);
        assert.deepEqual(
          [Number(result.denied), result.limit, result.remaining, result.retryAfterMs, result.resetAfterMs],
          parseReply(whole.execute(resp(["GCRA.LIMIT", key, String(period), String(burst), String(count)]))),
          `step ${step}: ${key.slice(0, 20)} ${period} ${burst} ${count} at ${now}`,
        );
      }
    });

    it(`RATELIMIT.CHECK, trace ${seed}`, () => {
      const random = randomFrom(seed * 104_729);
      const pick = <T>(from: readonly T[]) => from[random(from.length)] as T;
      let now = 1_764_547_200_000;
      using fast = new Engine({ clock: () => now });
      using whole = new Engine({ clock: () => now });
      const algorithms: LimiterAlgorithm[] = ["sliding_window", "token_bucket", "leaky_bucket", "gcra", "fixed_window"];
      const limits = new Map(algorithms.map((algo) => [algo, 1 + random(20)]));
      for (const [algo, limit] of limits) {
        fast.rateLimitCreate(algo, limit, 5000, { algo });
        whole.rateLimitCreate(algo, limit, 5000, { algo });
      }
      for (let step = 0; step < 300; step++) {
        now += random(10) === 0 ? -random(5000) : random(1000);
        const [name, key, cost] = [pick(algorithms), pick(keys), 1 + random(4)];
        const result = fast.rateLimitCheck(name, key, { cost });
        assert.deepEqual(
          [Number(result.allowed), result.remaining, result.retryAfterMs, result.limit, result.current],
          parseReply(whole.execute(resp(["RATELIMIT.CHECK", name, key, "COST", String(cost)]))),
          `step ${step}: ${name} ${key.slice(0, 20)} ${cost} at ${now}`,
        );
      }
      for (const name of algorithms) assert.deepEqual(fast.rateLimitStats(name), whole.rateLimitStats(name));
    });
  }

  it("their errors are the same too", () => {
    using engine = new Engine();
    engine.set("text", "hello");
    assert.throws(() => engine.gcraLimit("text", 1000, 10), {
      code: "WRONGTYPE",
      message: "WRONGTYPE Operation against a key holding the wrong kind of value",
    });
    assert.throws(() => engine.rateLimitCheck("nobody", "k"), { code: "ERR", message: "ERR limiter not found" });
  });
});

describe("gcraLimitMany decides what single calls decide, in order", () => {
  it("with repeated keys, more keys than one batch, and long ones", () => {
    const clock = () => 1_764_547_200_000;
    using many = new Engine({ clock });
    using single = new Engine({ clock });
    const batch = Array.from({ length: 5000 }, (_, index) => {
      const key = `key:${index % 1700}`;
      return index % 97 === 0 ? key.padEnd(4096, "é".repeat(3)).slice(0, 2000) : key;
    });
    const result = many.gcraLimitMany(batch, 60_000, 3, 2);
    batch.forEach((key, index) => {
      const one = single.gcraLimit(key, 60_000, 3, 2);
      assert.deepEqual(
        [result.denied[index], result.remaining[index], result.retryAfterMs[index], result.resetAfterMs[index]],
        [Number(one.denied), one.remaining, one.retryAfterMs, one.resetAfterMs],
        `${index}: ${key.slice(0, 20)}`,
      );
    });
  });

  it("no keys, no decisions", () => {
    using engine = new Engine();
    assert.equal(engine.gcraLimitMany([], 1000, 10).denied.length, 0);
  });

  it("a key that can't be decided ends the batch with its error", () => {
    using engine = new Engine();
    engine.set("text", "hello");
    assert.throws(() => engine.gcraLimitMany(["a", "text", "b"], 1000, 10), { code: "WRONGTYPE" });
    assert.equal(engine.exists("a"), 1);
    assert.equal(engine.exists("b"), 0);
  });
});
