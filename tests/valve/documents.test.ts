import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { HotKV, type Rate, Valve, ValveError, type ValveOptions } from "tidegate";
import { mostInAnyWindow, VirtualTime } from "./virtual.ts";

/** A valve under a clock that the test moves, and when each of its jobs started. */
function paced<const R extends Rate>(rate: ValveOptions<R>["rate"]) {
  const time = new VirtualTime();
  const store = new HotKV({ clock: time.clock });
  const valve = new Valve<R>({ store, namespace: "ns", rate, timers: time });
  const starts: number[] = [];
  const job = () => void starts.push(time.wall);
  return { time, store, valve, starts, job, origin: time.wall };
}

describe("what Valve's documents claim", () => {
  it("10 per second starts one unit every 100 ms", async () => {
    const { time, valve, starts, job, origin } = paced({ limit: 10, interval: "1s" });
    const all = Promise.all(Array.from({ length: 25 }, () => valve.run(job)));
    await time.drain();
    await all;
    assert.deepEqual(
      starts,
      Array.from({ length: 25 }, (_, at) => origin + at * 100),
    );
  });

  it("with burst 5, 5 start together after a quiet time and then spacing resumes, at most 14 in any second", async () => {
    const { time, valve, starts, job, origin } = paced({ limit: 10, interval: "1s", burst: 5 });
    const first = Promise.all(Array.from({ length: 20 }, () => valve.run(job)));
    await time.drain();
    await first;
    assert.deepEqual(
      starts.slice(0, 8),
      [0, 0, 0, 0, 0, 100, 200, 300].map((ms) => origin + ms),
    );
    assert.equal(mostInAnyWindow(starts, 1000), 14);
  });

  it("never more than limit + burst - 1 in any second of a long random run", async () => {
    const { time, valve, starts, job } = paced({ limit: 10, interval: "1s", burst: 5 });
    const jobs: Promise<void>[] = [];
    let seed = 42;
    for (let arrival = 0; arrival < 600; arrival++) {
      seed = (seed * 48_271) % 2_147_483_647;
      await time.advance(seed % 7 === 0 ? seed % 900 : seed % 40);
      jobs.push(valve.run(job));
    }
    await time.drain();
    await Promise.all(jobs);
    assert.equal(starts.length, 600);
    assert.ok(mostInAnyWindow(starts, 1000) <= 14);
  });

  it("a job of cost 3 needs a burst of at least 3, and is rejected before the store is asked", async () => {
    const valve = new Valve({
      namespace: "ns",
      rate: { limit: 10, interval: "1s" },
      store: { pipeline: () => assert.fail("the store was asked") },
    });
    await assert.rejects(
      valve.run(() => {}, { cost: 3 }),
      { name: "ValveError", code: "COST_EXCEEDS_LIMIT" },
    );
  });

  it("an interval is the same however it is spelled", async () => {
    const spellings = [
      ["0.5s", 500],
      ["1h30m", 5_400_000],
      ["30m1h", "1.5h"],
      ["1m1ms", 60_001],
      ["0.001s", 1],
      ["0001w", 604_800_000],
      ["9007199254740991ms", Number.MAX_SAFE_INTEGER],
    ] as const;
    for (const [text, same] of spellings) {
      const store = new HotKV();
      for (const interval of [text, same]) {
        // The store would refuse another policy in the namespace.
        await new Valve({ store, namespace: "ns", rate: { limit: Number.MAX_SAFE_INTEGER, interval } }).admit();
      }
      await assert.rejects(new Valve({ store, namespace: "ns", rate: { limit: 1, interval: text } }).admit());
    }
  });

  it("an interval that is no whole milliseconds is refused by name", () => {
    const texts = ["", "1", "s", "1x", "1.s", ".5s", "1 s", "1h 30m", "0s", "0.5ms", "-1s", "1e3ms", "1.5.5s", "1s1"];
    const digits = ["12345678901234567s", "0.1234567890123456789s", "9007199254740992ms", "9999999999999999w"];
    for (const interval of [...texts, ...digits, 0, 0.5, -1, Number.NaN, 2 ** 53, 1n, null, undefined, ["1s"]]) {
      assert.throws(() => new Valve({ namespace: "ns", rate: { limit: 1, interval: interval as string } }), {
        code: "INVALID_OPTIONS",
        field: "rate.interval",
        value: interval,
      });
    }
  });

  it("what is no object where one is due is refused by name", () => {
    for (const wrong of [null, 5, "1s", true]) {
      const refused = (options: object, field: string) =>
        assert.throws(
          () => new Valve({ namespace: "ns", rate: { limit: 1, interval: 1 }, ...options } as never),
          { code: "INVALID_OPTIONS", field, value: wrong },
          `${field} ${wrong}`,
        );
      assert.throws(() => new Valve(wrong as never), { code: "INVALID_OPTIONS", field: "options", value: wrong });
      refused({ rate: wrong }, "rate");
      refused({ rate: [{ limit: 1, interval: 1 }, wrong] }, "rate[1]");
      refused({ concurrency: wrong }, "concurrency");
      refused({ queue: wrong }, "queue");
    }
    assert.throws(() => new Valve({ namespace: "ns", rate: [] }), { code: "INVALID_OPTIONS", field: "rate" });
  });

  it("a daily fixed window permits 100 at 23:59:59.999 and 100 at 00:00", async () => {
    const { time, valve, starts, job } = paced({ limit: 100, interval: "24h", algorithm: "fixed-window" });
    const midnight = Math.ceil(time.wall / 86_400_000) * 86_400_000 + 86_400_000;
    await time.advance(midnight - 1 - time.wall);
    const all = Promise.all(Array.from({ length: 201 }, () => valve.run(job)));
    await time.settle();
    assert.equal(starts.length, 100);
    await time.advance(1);
    assert.equal(starts.length, 200);
    assert.deepEqual([...new Set(starts)], [midnight - 1, midnight]);
    await time.drain();
    await all;
    assert.equal(starts.at(-1), midnight + 86_400_000);
  });

  it("GCRA with 100 per 24 h spaces units 14.4 minutes apart", async () => {
    const { time, valve, starts, job, origin } = paced({ limit: 100, interval: "24h", burst: 1 });
    const all = Promise.all(Array.from({ length: 3 }, () => valve.run(job)));
    await time.drain();
    await all;
    assert.deepEqual(
      starts,
      [0, 864_000, 1_728_000].map((ms) => origin + ms),
    );
  });

  it("combined rules spend nothing when one refuses", async () => {
    const { valve, store } = paced([
      { limit: 10, interval: "1s", burst: 10 },
      { limit: 2, interval: "24h", algorithm: "fixed-window" },
    ]);
    for (let job = 0; job < 2; job++) assert.equal((await valve.admit()).allowed, true);
    for (let job = 0; job < 50; job++) {
      const refused = await valve.admit();
      assert.deepEqual(refused.blockedBy, [{ index: 1 }]);
    }
    const [shown] = await store.pipeline([["VALVE.SHOW", "ns"]]);
    // In canonical order the window comes first: both rules hold the two that were admitted, and no more.
    assert.match(JSON.stringify(shown), /"used",2,.*"used",2,/);
  });

  it("equal policies share a fingerprint, whatever their order and spelling; another is refused with both", async () => {
    const { store, valve } = paced([
      { limit: 10, interval: "1s", burst: 3 },
      { limit: 5, interval: "1m", name: "minute" },
    ]);
    await valve.admit();
    const same = new Valve({
      store,
      namespace: "ns",
      rate: [
        { name: "minute", limit: 5, interval: 60_000, algorithm: "gcra" },
        { limit: 10, interval: "1000ms", burst: 3 },
      ],
    });
    // The unit that the first valve spent is found by the second, under its own order of rules.
    assert.deepEqual((await same.admit()).blockedBy, [{ index: 0, name: "minute" }]);
    const other = new Valve({ store, namespace: "ns", rate: { limit: 10, interval: "2s" } });
    await assert.rejects(other.admit(), (error) => {
      assert.ok(error instanceof ValveError && error.code === "INVALID_OPTIONS");
      assert.match(error.fingerprint ?? "", /^[0-9a-f]{64}$/);
      assert.match(error.inForce ?? "", /^[0-9a-f]{64}$/);
      return error.fingerprint !== error.inForce;
    });
    await valve.resetFingerprint();
    assert.equal((await other.admit()).allowed, true);
  });
});
