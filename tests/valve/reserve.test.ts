import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { HotKV, type Rate, Valve, type ValveOptions } from "tidegate";
import { mostInAnyWindow, VirtualTime } from "./virtual.ts";

function paced<const R extends Rate>(rate: ValveOptions<R>["rate"]) {
  const time = new VirtualTime();
  const store = new HotKV({ clock: time.clock });
  const make = () => new Valve<R>({ store, namespace: "ns", rate, timers: time });
  return { time, store, make, valve: make() };
}

const reserved = (startsInMs: number) => ({ allowed: true, startsInMs, retryAfterMs: 0, blockedBy: [] });

describe("reserve", () => {
  it("takes the budget now and tells the start, up to the bound; past it nothing is taken", async () => {
    const { valve, time } = paced({ limit: 10, interval: "1s", name: "paced" });
    assert.deepEqual(await valve.reserve({ maxStartInMs: 1 }), reserved(0));
    assert.deepEqual(await valve.reserve({ maxStartInMs: 100 }), reserved(100));
    const refused = { allowed: false, retryAfterMs: 200, blockedBy: [{ index: 0, name: "paced" }] };
    for (let ask = 0; ask < 3; ask++) assert.deepEqual(await valve.reserve({ maxStartInMs: 199 }), refused);
    assert.deepEqual(await valve.admit(), refused);
    assert.deepEqual(await valve.reserve({ maxStartInMs: 200 }), reserved(200));
    assert.deepEqual(valve.stats(), { waiting: 0, running: 0, admitted: 3, refused: 4 });
    await time.advance(300);
    assert.equal((await valve.admit()).allowed, true);
  });

  it("holds jobs that come later behind it, on every valve of the namespace", async () => {
    const { valve, make, time } = paced({ limit: 10, interval: "1s", burst: 3 });
    assert.deepEqual(await valve.reserve({ cost: 3, maxStartInMs: 1000 }), reserved(0));
    assert.deepEqual(await valve.reserve({ cost: 3, maxStartInMs: 1000 }), reserved(300));
    const starts: number[] = [];
    const other = make();
    const origin = time.wall;
    const jobs = [valve, other].map((each) => each.run(() => void starts.push(time.wall - origin)));
    await time.drain();
    await Promise.all(jobs);
    assert.equal(starts[0], 400);
    assert.equal(starts.length, 2);
    assert.ok((starts[1] ?? 0) >= 500);
  });

  it("never lets two valves start more than the policy allows, in any window of a long random run", async () => {
    const { valve, make, time } = paced([
      { limit: 10, interval: "1s", burst: 5 },
      { limit: 25, interval: "7s", algorithm: "sliding-window" },
    ]);
    const valves = [valve, make()];
    const starts: number[] = [];
    const jobs: Promise<void>[] = [];
    let [seed, taken] = [7, 0];
    for (let ask = 0; ask < 400; ask++) {
      seed = (seed * 48_271) % 2_147_483_647;
      await time.advance(seed % 5 === 0 ? seed % 900 : seed % 60);
      const each = valves[ask % 2];
      if (each === undefined) continue;
      if (seed % 3 === 0) jobs.push(each.run(() => void starts.push(time.wall)));
      else {
        const slot = await each.reserve({ maxStartInMs: 1 + (seed % 3000) });
        if (!slot.allowed) continue;
        assert.ok(slot.startsInMs <= 1 + (seed % 3000));
        taken++;
        starts.push(time.wall + slot.startsInMs);
      }
    }
    await time.drain();
    await Promise.all(jobs);
    starts.sort((a, b) => a - b);
    assert.ok(taken > 20 && jobs.length > 100, `${taken} ${jobs.length}`);
    assert.equal(starts.length, taken + jobs.length);
    assert.ok(mostInAnyWindow(starts, 1000) <= 14);
    assert.ok(mostInAnyWindow(starts, 7000) <= 25);
  });

  it("outlives the process that reserved, in a file", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tidegate-reserve-"));
    const time = new VirtualTime();
    try {
      const open = async <T>(ask: (valve: Valve<{ limit: number; interval: string }>) => Promise<T>) => {
        const store = new HotKV({ url: `file:${folder}/budgets.db`, clock: time.clock });
        const valve = new Valve({ store, namespace: "ns", rate: { limit: 1, interval: "1s" }, timers: time });
        try {
          return await ask(valve);
        } finally {
          await store.close();
        }
      };
      assert.deepEqual(await open((valve) => valve.reserve({ maxStartInMs: 5000 })), reserved(0));
      assert.deepEqual(await open((valve) => valve.reserve({ maxStartInMs: 5000 })), reserved(1000));
      assert.deepEqual(await open((valve) => valve.reserve({ maxStartInMs: 5000 })), reserved(2000));
      time.wall += 500;
      assert.equal((await open((valve) => valve.admit())).retryAfterMs, 2500);
      // The clock stepped back: the start counts as reserved then, as far ahead as it was.
      time.wall -= 3_600_000;
      assert.deepEqual(await open((valve) => valve.reserve({ maxStartInMs: 5000 })), reserved(3000));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("checks its options before the store is asked", async () => {
    const store = { pipeline: () => assert.fail("the store was asked") };
    const valve = new Valve({ store, namespace: "ns", rate: { limit: 1, interval: "1s" } });
    for (const maxStartInMs of [undefined, 0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, "1s"]) {
      await assert.rejects(valve.reserve({ maxStartInMs: maxStartInMs as number }), {
        code: "INVALID_OPTIONS",
        field: "maxStartInMs",
        allowed: "an integer from 1 to 9007199254740991",
      });
    }
    await assert.rejects(valve.reserve({ maxStartInMs: 1, cost: 2 }), { code: "COST_EXCEEDS_LIMIT" });
    const rate = { limit: 1, interval: "1s" };
    const limited = new Valve({ namespace: "ns", rate, concurrency: { limit: 1 } });
    await assert.rejects(limited.reserve({ maxStartInMs: 1 }), { code: "INVALID_OPTIONS", message: /concurrency/ });
    valve.close();
    await assert.rejects(valve.reserve({ maxStartInMs: 1 }), { code: "CLOSED" });
  });
});
