import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, it } from "node:test";
import { HotKV, type Rate, Valve, ValveError, type ValveOptions } from "tidegate";
import { VirtualTime } from "./virtual.ts";

function paced<const R extends Rate>(rate: ValveOptions<R>["rate"], options: { readonly maxWaiting?: number } = {}) {
  const time = new VirtualTime();
  const store = new HotKV({ clock: time.clock });
  let calls = 0;
  const counted = {
    pipeline: (commands: Parameters<typeof store.pipeline>[0]) => {
      calls++;
      return store.pipeline(commands);
    },
  };
  const valve = new Valve<R>({ store: counted, namespace: "ns", rate, timers: time, queue: options });
  const order: (string | number)[] = [];
  const mark = (name: string | number) => () => void order.push(name);
  return { time, store, valve, order, mark, calls: () => calls };
}

describe("the scheduler is immune to the field's faults", () => {
  it("F1: after the clock moved back an hour, the next job starts within one spacing", async () => {
    const { time, valve, order, mark } = paced({ limit: 10, interval: "1s" });
    await valve.run(mark("first"));
    time.wall -= 3_600_000;
    const next = valve.run(mark("next"));
    await time.advance(100);
    assert.deepEqual(order, ["first", "next"]);
    await next;
  });

  it("F32: a process that ran one job exits by itself", () => {
    const program = `import { Valve } from "tidegate";
      const valve = new Valve({ namespace: "ns", rate: { limit: 1, interval: "1h" } });
      console.log(await valve.run(() => "done"));`;
    const output = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
      encoding: "utf8",
      timeout: 10_000,
    });
    assert.equal(output, "done\n");
  });

  it("F36: a rule that refuses drains no other, and two rules that would share a key are refused when made", async () => {
    const { valve } = paced([
      { limit: 3, interval: "1h", burst: 3, name: "many" },
      { limit: 1, interval: "1h", name: "few", scope: "tenant" },
    ]);
    const ask = (tenant: string) => valve.admit({ scope: { tenant } });
    assert.equal((await ask("a")).allowed, true);
    for (let again = 0; again < 20; again++) {
      assert.deepEqual((await ask("a")).blockedBy, [{ index: 1, name: "few" }]);
    }
    assert.deepEqual([(await ask("b")).allowed, (await ask("c")).allowed], [true, true]);
    const hourly = { limit: 1, interval: "60m" } as const;
    for (const rate of [
      [hourly, { limit: 2, interval: "1h", burst: 2 }],
      [
        { ...hourly, name: "a" },
        { limit: 2, interval: "1m", name: "a", scope: "tenant" },
      ],
    ] as const) {
      assert.throws(() => new Valve({ namespace: "ns", rate }), { code: "INVALID_OPTIONS", field: "rate[1].name" });
    }
  });

  it("F37: an aborted job that waited holds no place, no listener and no timer", async () => {
    const { time, valve, order, mark } = paced({ limit: 1, interval: "1s" });
    await valve.run(mark("first"));
    const stop = new AbortController();
    let listeners = 0;
    const { signal } = stop;
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--;
      remove(...args);
    };
    const waits = valve.run(mark("never"), { signal, maxWaitMs: 60_000 });
    await time.settle();
    assert.deepEqual([listeners, time.timers, valve.stats().waiting], [1, 1, 1]);
    stop.abort(new Error("enough"));
    await assert.rejects(waits, { code: "ABORTED" });
    await time.settle();
    assert.deepEqual([listeners, time.timers, valve.stats().waiting], [0, 0, 0]);
    const after = valve.run(mark("after"), { signal: new AbortController().signal });
    await time.advance(1000);
    await after;
    assert.deepEqual(order, ["first", "after"]);
  });

  it("F38: a job that waits past its limit is rejected, not run late", async () => {
    const { time, valve, order, mark } = paced({ limit: 1, interval: "1s" });
    await valve.run(mark("first"));
    const late = valve.run(mark("late"), { maxWaitMs: 300 });
    const rejected = assert.rejects(late, (error) => {
      return error instanceof ValveError && error.code === "TIMEOUT" && error.retryAfterMs === 1000;
    });
    await time.advance(299);
    assert.equal(valve.stats().waiting, 1);
    await time.advance(1);
    await rejected;
    await time.advance(5000);
    assert.deepEqual(order, ["first"]);
  });

  it("F38: nor when the store is asked for others all the time", async () => {
    const time = new VirtualTime();
    const store = new HotKV({ clock: time.clock });
    // Each answer takes 10 ms, and there is always another job to ask for.
    const slow = {
      pipeline: async (commands: Parameters<typeof store.pipeline>[0]) => {
        await new Promise<void>((resolve) => time.set(resolve, 10));
        return store.pipeline(commands);
      },
    };
    const rate = { limit: 1000, interval: "1s", name: "each", scope: "tenant" } as const;
    const valve = new Valve({ store: slow, namespace: "ns", rate, timers: time });
    let busy = true;
    const others = (async () => {
      for (let tenant = 0; busy; tenant++) {
        await Promise.all([0, 1].map((at) => valve.run(() => {}, { scope: { tenant: `${tenant}:${at}` } })));
      }
    })();
    await time.advance(100);
    valve.pause(500, { scope: { tenant: "late" } });
    const since = time.now();
    const late = valve
      .run(() => time.now(), { scope: { tenant: "late" }, maxWaitMs: 100 })
      .catch((error) => {
        assert.equal(error.code, "TIMEOUT");
        return time.now();
      });
    await time.advance(1000);
    busy = false;
    await time.drain();
    await others;
    assert.equal((await late) - since, 100);
  });

  it("a job that may be tried once is asked for once, however slow the store is", async () => {
    const time = new VirtualTime();
    const store = new HotKV({ clock: time.clock });
    const slow = {
      pipeline: async (commands: Parameters<typeof store.pipeline>[0]) => {
        await new Promise<void>((resolve) => time.set(resolve, 50));
        return store.pipeline(commands);
      },
    };
    const valve = new Valve({ store: slow, namespace: "ns", rate: { limit: 1, interval: "1h" }, timers: time });
    const first = valve.run(() => "ran", { maxWaitMs: 0 });
    const second = assert.rejects(
      valve.run(() => "ran", { maxWaitMs: 0 }),
      { code: "TIMEOUT" },
    );
    await time.advance(500);
    assert.equal(await first, "ran");
    await second;
  });

  it("F40: a promise to resume at T is kept at T, without polling", async () => {
    const { time, valve, order, mark, calls } = paced({ limit: 1, interval: "10s" });
    await valve.run(mark("first"));
    const before = calls();
    const second = valve.run(mark("second"));
    await time.advance(9999);
    assert.deepEqual([order.length, calls() - before, time.setCount], [1, 1, 1]);
    await time.advance(1);
    await second;
    assert.deepEqual([order.length, calls() - before], [2, 2]);
  });

  it("F52: 5,000 waiters start first in, first out, on one timer", async () => {
    const { time, valve, order, mark, calls } = paced({ limit: 1000, interval: "1s", burst: 10 });
    const all = Promise.all(Array.from({ length: 5000 }, (_, at) => valve.run(mark(at))));
    await time.drain();
    await all;
    assert.deepEqual(
      order,
      Array.from({ length: 5000 }, (_, at) => at),
    );
    assert.equal(time.most, 1);
    assert.ok(calls() < 2 * 5000 + 10, `${calls()} store calls`);
  });

  it("F53: a wait of more than 2^31 ms is kept, not fired at once", async () => {
    const { time, valve, order, mark } = paced({ limit: 1, interval: "8w" });
    await valve.run(mark("first"));
    const second = valve.run(mark("second"));
    await time.settle();
    assert.equal(time.next, 2 ** 31 - 1);
    await time.advance(8 * 604_800_000 - 1);
    assert.equal(order.length, 1);
    await time.advance(1);
    await second;
  });

  it("F54: a job that throws frees its slot and rejects only its own promise", async () => {
    const { valve } = paced({ limit: 100, interval: "1s", burst: 10 });
    const [bad, worse, good] = await Promise.allSettled([
      valve.run(() => Promise.reject(new Error("bad"))),
      valve.run(() => {
        throw new Error("worse");
      }),
      valve.run(() => "good"),
    ]);
    assert.deepEqual(
      [bad?.status, worse?.status, good],
      ["rejected", "rejected", { status: "fulfilled", value: "good" }],
    );
    assert.equal(valve.stats().running, 0);
  });
});

describe("the order of jobs", () => {
  it("is by priority, and first in, first out within one", async () => {
    const { time, valve, order, mark } = paced({ limit: 1, interval: "1s" });
    const jobs = [valve.run(mark("a"))];
    await time.settle();
    for (const [name, priority] of [
      ["b", 0],
      ["c", 5],
      ["d", 0],
      ["e", 5],
      ["f", -1],
    ] as const) {
      jobs.push(valve.run(mark(name), { priority }));
    }
    await time.drain();
    await Promise.all(jobs);
    assert.deepEqual(order, ["a", "c", "e", "b", "d", "f"]);
  });

  it("never lets cheap jobs overtake a dear one whose turn has come, whatever their priority", async () => {
    const { time, valve, order, mark } = paced({ limit: 10, interval: "1s", burst: 10 });
    await valve.run(mark("start"), { cost: 10 });
    const dear = valve.run(mark("dear"), { cost: 10 });
    const cheap: Promise<void>[] = [];
    for (let at = 0; at < 30; at++) {
      await time.advance(50);
      cheap.push(valve.run(mark("cheap"), { priority: 9 }));
    }
    await time.drain();
    await Promise.all([dear, ...cheap]);
    assert.equal(order[1], "dear");
  });

  it("lets other identities pass a job that only its scoped rule holds up", async () => {
    const { time, valve, order, mark } = paced([
      { name: "all", limit: 100, interval: "1s", burst: 100 },
      { name: "per-tenant", scope: "tenant", limit: 1, interval: "1s" },
    ]);
    const run = (tenant: string, name: string) => valve.run(mark(name), { scope: { tenant } });
    const jobs = [run("a", "a1"), run("a", "a2"), run("a", "a3"), run("b", "b1"), run("c", "c1")];
    await time.settle();
    assert.deepEqual(order, ["a1", "b1", "c1"]);
    await time.drain();
    await Promise.all(jobs);
    assert.deepEqual(order, ["a1", "b1", "c1", "a2", "a3"]);
  });

  it("is full when as many wait as may", async () => {
    const { time, valve, mark } = paced({ limit: 1, interval: "1s" }, { maxWaiting: 2 });
    await valve.run(mark(0));
    const waiting = [valve.run(mark(1)), valve.run(mark(2))];
    await assert.rejects(valve.run(mark(3)), { code: "QUEUE_FULL" });
    await time.drain();
    await Promise.all(waiting);
  });

  it("ends with close, which rejects who waits, or with drain, which lets them finish", async () => {
    const first = paced({ limit: 1, interval: "1s" });
    await first.valve.run(first.mark(0));
    const rejected = assert.rejects(first.valve.run(first.mark(1)), { code: "CLOSED" });
    await first.time.settle();
    first.valve.close();
    await rejected;
    await assert.rejects(first.valve.run(first.mark(2)), { code: "CLOSED" });
    assert.equal(first.time.timers, 0);

    const second = paced({ limit: 1, interval: "1s" });
    const jobs = [second.valve.run(second.mark(0)), second.valve.run(second.mark(1))];
    let drained = false;
    const draining = second.valve.drain().then(() => {
      drained = true;
    });
    await assert.rejects(second.valve.run(second.mark(2)), { code: "CLOSED" });
    await second.time.settle();
    assert.equal(drained, false);
    await second.time.drain();
    await Promise.all([...jobs, draining]);
    assert.deepEqual(second.order, [0, 1]);
  });
});

describe("leases", () => {
  const RATE = { limit: 1000, interval: "1s", burst: 1000 } as const;

  it("limit how many jobs run at once, over all workers", async () => {
    const time = new VirtualTime();
    const store = new HotKV({ clock: time.clock });
    const workers = [1, 2, 3].map(
      () => new Valve({ store, namespace: "ns", rate: RATE, concurrency: { limit: 4, lease: "3s" }, timers: time }),
    );
    let running = 0;
    let most = 0;
    const jobs = Array.from({ length: 60 }, (_, at) =>
      workers[at % 3]?.run(async () => {
        most = Math.max(most, ++running);
        await new Promise<void>((resolve) => time.set(() => resolve(), 20));
        running--;
      }),
    );
    await time.drain();
    await Promise.all(jobs);
    assert.deepEqual([most, running], [4, 0]);
  });

  it("of a worker that died run out by themselves; those of living ones are renewed", async () => {
    const time = new VirtualTime();
    const store = new HotKV({ clock: time.clock });
    const options = {
      store,
      namespace: "ns",
      rate: RATE,
      concurrency: { limit: 1, lease: "3s" },
      timers: time,
    } as const;
    const dead = new Valve(options);
    // A job that is admitted and never heard of again.
    assert.equal((await dead.admit()).allowed, true);
    const living = new Valve(options);
    let ended = false;
    let started = 0;
    const job = living.run(async () => {
      started = time.now();
      await new Promise<void>((resolve) => time.set(() => resolve(), 60_000));
      ended = true;
    });
    await time.advance(2999);
    assert.equal(started, 0);
    await time.advance(1);
    assert.equal(started, 3000);
    // The job runs for twenty leases, and nobody else gets its place.
    await time.advance(30_000);
    assert.equal((await dead.admit()).allowed, false);
    await time.advance(31_000);
    await job;
    assert.equal(ended, true);
    assert.equal((await dead.admit()).allowed, true);
  });

  it("are given back before a job's result is known, since a Worker's request or a process may end with it", async () => {
    const time = new VirtualTime();
    const store = new HotKV({ clock: time.clock });
    let answer = () => {};
    const slow = {
      async pipeline(commands: Parameters<typeof store.pipeline>[0]) {
        if (commands[0]?.[0] === "VALVE.RELEASE") await new Promise<void>((resolve) => (answer = resolve));
        return store.pipeline(commands);
      },
    };
    const concurrency = { limit: 1, lease: "3s" } as const;
    const valve = new Valve({ store: slow, namespace: "ns", rate: RATE, concurrency, timers: time });
    const known: unknown[] = [];
    void valve.run(() => "done").then((result) => known.push(result));
    await time.settle();
    void valve.drain().then(() => known.push("drained"));
    await time.settle();
    assert.deepEqual([known, valve.stats().running], [[], 1]);
    answer();
    await time.settle();
    assert.deepEqual([known.toSorted(), valve.stats().running], [["done", "drained"], 0]);
  });

  it("that can't be given back keep nobody from a job's result", async () => {
    const time = new VirtualTime();
    const store = new HotKV({ clock: time.clock });
    const failing = {
      async pipeline(commands: Parameters<typeof store.pipeline>[0]) {
        if (commands[0]?.[0] === "VALVE.RELEASE") throw new Error("the store is gone");
        return store.pipeline(commands);
      },
    };
    const concurrency = { limit: 3, lease: "3s" } as const;
    const valve = new Valve({ store: failing, namespace: "ns", rate: RATE, concurrency, timers: time });
    assert.equal(await valve.run(() => "done"), "done");
    await assert.rejects(
      valve.run(() => Promise.reject(new Error("the job's own"))),
      /the job's own/,
    );
    const shown = (await store.command("VALVE.SHOW", "ns")) as unknown[];
    assert.deepEqual(shown.slice(shown.indexOf("leases")), ["leases", 2]);
  });

  it("that are lost abort the job through its signal", async () => {
    const time = new VirtualTime();
    const store = new HotKV({ clock: time.clock });
    const valve = new Valve({
      store,
      namespace: "ns",
      rate: RATE,
      concurrency: { limit: 1, lease: "3s" },
      timers: time,
    });
    const lost: string[] = [];
    valve.on("leaseLost", ({ lease }) => lost.push(lease));
    const job = valve.run(
      ({ signal, lease }) =>
        new Promise<string>((resolve) => {
          void store.command("VALVE.RELEASE", "ns", lease ?? "");
          signal.addEventListener("abort", () => resolve(String(signal.reason)));
        }),
    );
    await time.advance(1000);
    assert.match(await job, /ValveError: the job's lease was lost/);
    assert.equal(lost.length, 1);
  });

  it("are given up when they run out while the store is silent, which is asked no faster for it", async () => {
    const time = new VirtualTime();
    const store = new HotKV({ clock: time.clock });
    const silent = {
      pipeline: (commands: Parameters<typeof store.pipeline>[0]) =>
        commands[0]?.[0] === "VALVE.RENEW" ? new Promise<never>(() => {}) : store.pipeline(commands),
    };
    const concurrency = { limit: 1, lease: "3s" } as const;
    const valve = new Valve({ store: silent, namespace: "ns", rate: RATE, concurrency, timers: time });
    const lost: number[] = [];
    valve.on("leaseLost", () => lost.push(time.now()));
    const job = valve.run(({ signal }) => new Promise((resolve) => signal.addEventListener("abort", resolve)));
    await time.settle();
    const wakes = time.setCount;
    await time.advance(2999);
    assert.deepEqual(lost, []);
    await time.advance(1);
    await job;
    assert.deepEqual(lost, [3000]);
    assert.ok(time.setCount - wakes < 10, `${time.setCount - wakes} timers`);
  });

  it("are given up in time while another job's question goes unanswered", async () => {
    const time = new VirtualTime();
    const store = new HotKV({ clock: time.clock });
    let silent = false;
    const falling = {
      pipeline: (commands: Parameters<typeof store.pipeline>[0]) =>
        silent ? new Promise<never>(() => {}) : store.pipeline(commands),
    };
    const concurrency = { limit: 2, lease: "3s" } as const;
    const valve = new Valve({ store: falling, namespace: "ns", rate: RATE, concurrency, timers: time });
    const lost: number[] = [];
    valve.on("leaseLost", () => lost.push(time.now()));
    const job = valve.run(({ signal }) => new Promise((resolve) => signal.addEventListener("abort", resolve)));
    await time.settle();
    silent = true;
    void valve.run(() => {});
    await time.advance(3000);
    assert.deepEqual(lost, [3000]);
    await job;
  });
});

describe("what a caller hands over", () => {
  it("changes nothing when it is a listener that throws", async () => {
    const uncaught: unknown[] = [];
    const note = (error: unknown) => uncaught.push(error);
    const others = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException").on("uncaughtException", note);
    try {
      for (const name of ["waiting", "admitted", "refused"] as const) {
        const { time, valve, order, mark } = paced({ limit: 1, interval: "1s" });
        const thrown = new Error(name);
        valve.on(name, () => {
          throw thrown;
        });
        const jobs = [valve.run(mark(1)), valve.run(mark(2))];
        await time.advance(1000);
        await Promise.all(jobs);
        assert.deepEqual(order, [1, 2], name);
        assert.deepEqual(valve.stats(), { waiting: 0, running: 0, admitted: 2, refused: 1 }, name);
        assert.ok(uncaught.includes(thrown), name);
      }
    } finally {
      process.off("uncaughtException", note);
      for (const other of others) process.on("uncaughtException", other);
    }
  });

  it("is refused by its name when it is of the wrong kind", async () => {
    const valve = new Valve({ namespace: "ns", rate: { limit: 1, interval: "1s", name: "each", scope: "who" } });
    const scope = { who: "a" };
    // biome-ignore lint/suspicious/noExplicitAny: none of it is what the types allow.
    const any = valve as any;
    const job = () => {};
    await assert.rejects(any.run(job, { scope, signal: {} }), { code: "INVALID_OPTIONS", field: "signal" });
    await assert.rejects(any.run(job, { scope: null }), { code: "INVALID_OPTIONS", field: "scope.who" });
    await assert.rejects(any.fetch("data:,", { scope, maxWaitMs: "5" }), {
      code: "INVALID_OPTIONS",
      field: "maxWaitMs",
    });
    for (const name of ["admited", "constructor", undefined]) {
      assert.throws(() => any.on(name, job), { code: "INVALID_OPTIONS", field: "name", value: name });
    }
    assert.throws(() => any.on("admitted", 5), { code: "INVALID_OPTIONS", field: "listener" });
    const options = { namespace: "ns", rate: { limit: 1, interval: "1s" } } as const;
    const wrong: readonly (readonly [field: string, value: unknown])[] = [
      ["store", null],
      ["store", {}],
      ["seed", "7"],
      ["seed", -1],
      ["seed", Number.NaN],
      ["spreadMs", 60_001],
      ["timers", null],
      ["timers", { now: () => 0, set: () => 0 }],
    ];
    for (const [field, value] of wrong) {
      const given = { ...options, [field]: value } as never;
      assert.throws(() => new Valve(given), { code: "INVALID_OPTIONS", field, value }, `${field} ${value}`);
    }
    assert.throws(() => new Valve({ ...options, queue: { maxWaiting: 0 } }), { field: "queue.maxWaiting", value: 0 });
    assert.throws(() => new Valve({ ...options, stroe: 1 } as never), { field: "stroe", value: 1 });
  });
});
