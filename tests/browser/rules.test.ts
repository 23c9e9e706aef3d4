import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, describe, test } from "node:test";
import { Engine, simulate } from "tidegate";
import { init } from "tidegate/web";
import { readTimes } from "../../www/src/arrivals/paste.ts";
import { MOST_RETRIES, withRetries } from "../../www/src/arrivals/retry.ts";
import { promisedBound } from "../../www/src/rule/bound.ts";
import { callsFor, readAnswer } from "../../www/src/rule/calls.ts";
import { choose, readQuotas } from "../../www/src/rule/choose.ts";
import { commands } from "../../www/src/rule/code.ts";
import { type Rule, rule, simulated } from "../../www/src/rule/rule.ts";
import { duration, title } from "../../www/src/rule/words.ts";
import { begin, PRESETS } from "../../www/src/scenario/presets.ts";
import { fromFragment, LinkError, toFragment } from "../../www/src/scenario/share.ts";
import { mostInAny } from "./model.ts";

const RULES: readonly Rule[] = [
  rule("gcra", 10, 1000),
  rule("gcra", 10, 1000, { burst: 5 }),
  rule("gcra", 3, 1000, { burst: 4 }),
  rule("gcra", 7, 10, { burst: 2 }),
  rule("fixed-window", 10, 1000),
  rule("fixed-window", 5, 1),
  rule("sliding-window", 10, 1000),
  rule("sliding-window", 5, 1),
  rule("token-bucket", 20, 4000, { rate: "5" }),
  rule("token-bucket", 7, 900),
  rule("leaky-bucket", 6, 1000, { rate: "2.5" }),
  rule("leaky-bucket", 4, 700, { rate: "0.333333" }),
];

describe("what the page says about rules", () => {
  before(() => init(readFileSync(new URL("../../pkg/wasm/tidegate_bg.wasm", import.meta.url))));

  for (const each of RULES) {
    test(`the promised bound of ${title(each)} is never passed, and is reached by the greediest caller`, () => {
      const start = 1_796_083_200_000;
      let most = 0;
      // Asking greedily from each of several phases of the clock, after a quiet time.
      for (const phase of [0, 1, Math.floor(each.interval / 3), each.interval - 1]) {
        const span = each.interval * 3;
        const asks = Math.max(1, Math.ceil(promisedBound(each) / 2), each.limit, each.burst);
        const times = new Float64Array(span * asks).map((_, index) => start + phase + Math.floor(index / asks));
        const { allowed } = simulate([simulated(each)], { times });
        most = Math.max(most, mostInAny(each.interval, times, allowed));
      }
      assert.ok(most <= promisedBound(each), `${most} admitted`);
      assert.equal(most, promisedBound(each));
    });

    test(`the commands shown for ${title(each)} decide what its lane shows`, () => {
      const times = Array.from({ length: 300 }, (_, index) => 1_796_083_200_000 + Math.floor((index * index) / 9));
      const lane = simulate([simulated(each)], { times: Float64Array.from(times) });
      let now = 0;
      using engine = new Engine({ clock: () => now });
      const { setUp, check } = callsFor([each], "api");
      let fingerprint = "";
      for (const call of setUp) fingerprint = String(engine.command(...call));
      times.forEach((time, index) => {
        now = time;
        const call = check(1, fingerprint);
        const { allowed, retryAfterMs } = readAnswer(call, engine.command(...call));
        assert.equal(allowed, lane.allowed[index] === 1);
        assert.equal(retryAfterMs, lane.retryAfterMs[index]);
      });
    });
  }

  test("the commands of a policy are taken by the engine as they are shown", () => {
    const policy = [
      rule("gcra", 10, 1000, { burst: 5 }),
      rule("token-bucket", 20, 1000),
      rule("fixed-window", 40, 10_000),
    ];
    using engine = new Engine();
    const fingerprint = String(
      engine.command(...(callsFor(policy, "api").setUp[0] as ["VALVE.DEFINE", string, string])),
    );
    const [define = "", admit = ""] = commands(policy, fingerprint).split("\n");
    const json = /'(.*)'/.exec(define)?.[1] ?? "";
    assert.equal(engine.command("VALVE.DEFINE", "other", json), fingerprint);
    const [name = "", ...args] = admit.split(" ");
    assert.deepEqual(engine.command(name, ...args), [1, 0, []]);
  });

  test("retries end at a number of their own, and never take the place of first tries", () => {
    const times = Float64Array.from({ length: 30_000 }, (_, index) => 1_796_083_200_000 + index * 1000);
    const tight = [rule("gcra", 1, 1_000_000)];
    const sent = withRetries(tight, { times }, { kind: "hammer", every: 100 }, 1).times;
    assert.equal(sent.length, times.length + MOST_RETRIES);
    const came = new Set(sent);
    assert.ok(times.every((time) => came.has(time)));
    // In line only the first asks: once the line is gone, everyone who comes asks once again.
    const lined = new Set(withRetries([rule("gcra", 1, 2000)], { times }, { kind: "queue" }, 1).times);
    assert.ok(times.slice(-1000).every((time) => lined.has(time)));
  });

  test("a link brings back every preset", () => {
    for (const preset of PRESETS) {
      const scenario = begin(preset);
      assert.deepEqual(fromFragment(toFragment(scenario) ?? ""), scenario);
    }
  });

  test("a link brings back times and costs of one's own", () => {
    const { lanes, view, playhead } = begin(PRESETS[0] as (typeof PRESETS)[0]);
    const times = Float64Array.from([0, 0, 1, 5, 128, 1_796_083_200_000, 1_796_083_200_000, 8_640_000_000_000_000]);
    const costs = Float64Array.from([1, 1, 1, 2, 300, 1, 1, 9_007_199_254_740_991]);
    const scenario = { lanes, view, playhead, source: { kind: "own", arrivals: { times, costs } } } as const;
    assert.deepEqual(fromFragment(toFragment(scenario) ?? ""), scenario);
  });

  test("a damaged link is refused with a sentence, never shown as something else", () => {
    const good = toFragment(begin(PRESETS[5] as (typeof PRESETS)[0])) ?? "";
    const bad = [
      "",
      "v=2",
      good.replace("p=policy", "p=nothing"),
      good.replace("l=g10", "l=x10"),
      good.replace("g10.1000", "g0.1000"),
      good.replace("g10.1000", "g10.NaN"),
      good.replace("r=12", "r=1e9"),
      good.replace(/z=\d+/, "z=99999999999999"),
      good.replace(/t=\d+/, "t=-1"),
      good.replace(/t=\d+/, "t=8640000000000001"),
      good.replace("p=policy", "a=%%%"),
      good.replace("p=policy", "a=gICAgICA"),
      good.replace("p=policy", "a=AAH_____fw"),
      good.replace("p=policy", "a=AAE&c=AAE"),
      good.replace("p=policy", "a=AAE&c=____________DwE"),
    ];
    for (const fragment of bad) assert.throws(() => fromFragment(fragment), LinkError, fragment);
  });

  test("a log's times are read: ISO, zones, the common log format, epochs, a CSV column", () => {
    const noon = Date.UTC(2026, 11, 1, 12);
    const text = [
      "2026-12-01T12:00:00Z",
      "2026-12-01 12:00:00.001 INFO started",
      '203.0.113.9 - - [01/Dec/2026:13:00:00 +0100] "GET / HTTP/1.1" 200 5',
      `${noon / 1000}`,
      `${noon / 1000}.250`,
      `${noon + 7}`,
      `${noon}123`,
      `17,"user",${noon + 8},GET`,
      "time,user",
      "",
    ].join("\r\n");
    const { arrivals, skipped, firstSkipped } = readTimes(text);
    assert.deepEqual([...arrivals.times], [noon, noon, noon, noon, noon + 1, noon + 7, noon + 8, noon + 250]);
    assert.deepEqual([skipped, firstSkipped], [1, "time,user"]);
  });

  test("a provider's sentence becomes the rule that describes it", () => {
    const told = (text: string) => readQuotas(text).map((quota) => title(choose(quota).rule));
    assert.deepEqual(told("10 requests per second with bursts of 5"), ["GCRA, 10 per 1 s, burst 5"]);
    assert.deepEqual(told("5,000 calls per day, reset at midnight UTC"), ["Fixed window, 5,000 per 24 h"]);
    assert.deepEqual(told("100 requests in any 15 minutes"), ["Sliding window, 100 per 15 min"]);
    assert.deepEqual(told("60 req/min and 1k/h"), ["GCRA, 60 per 1 min, burst 1", "GCRA, 1,000 per 1 h, burst 1"]);
    assert.deepEqual(told("a token bucket refilled at 5 per second, bursts up to 20"), [
      "Token bucket, 20 units, 5/s refill",
    ]);
    assert.deepEqual(told('"default";q=100;w=60'), ["GCRA, 100 per 1 min, burst 1"]);
    assert.deepEqual(told("1,200 requests per five minutes"), ["GCRA, 1,200 per 5 min, burst 1"]);
    assert.deepEqual(told("One message a second"), ["GCRA, 1 per 1 s, burst 1"]);
    assert.deepEqual(told("500 RPM, 40k TPM"), ["GCRA, 500 per 1 min, burst 1", "GCRA, 40,000 per 1 min, burst 1"]);
    assert.deepEqual(told("be nice"), []);
  });

  test("a quota that makes no sense gets the engine's own objection, not a rule", () => {
    const quota = { limit: 10, interval: 1000, counting: "token-bucket", burst: 4, cost: 1 } as const;
    const wrong = [
      { limit: 0 },
      { limit: 1.5 },
      { limit: Number.NaN },
      { interval: 0.5 },
      { burst: 2.5 },
      { limit: 2 ** 53 },
    ];
    for (const each of wrong) assert.ok(choose({ ...quota, ...each }).fault !== undefined, JSON.stringify(each));
    assert.equal(choose(quota).fault, undefined);
  });

  test("durations are said exactly", () => {
    const said = [0.5, 1, 999, 1000, 1500, 60_000, 864_000, 86_399_999, 86_400_000, 90_000_000].map(duration);
    const expected = [
      "0.5 ms",
      "1 ms",
      "999 ms",
      "1 s",
      "1.5 s",
      "1 min",
      "14 min 24 s",
      "23 h 59 min 59.999 s",
      "24 h",
      "1 d 1 h",
    ];
    assert.deepEqual(said, expected);
  });
});
