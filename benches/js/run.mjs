// npm run bench: checks in one JavaScript process beside peers, in one run: every subject takes its turn in each round, and medians
// are compared. Each size runs in a process of its own, so that one does not inherit another's heap.

import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { Engine, HotKV, Valve } from "tidegate";

const peers = createRequire(new URL("../peers/package.json", import.meta.url));
const load = (name) => import(peers.resolve(name));
const ROUNDS = 7;
const PERIOD = 60_000;
const BURST = 1_000_000;

/** GCRA as one writes it by hand: a float for each key. */
function handWritten() {
  const tats = new Map();
  return (key) => {
    const now = Date.now();
    const spacing = PERIOD / BURST;
    const tat = Math.max(tats.get(key) ?? now, now);
    const after = tat + spacing;
    if (after - now > PERIOD) {
      const retryAfterMs = Math.ceil(after - PERIOD - now);
      return { denied: true, limit: BURST, remaining: 0, retryAfterMs, resetAfterMs: Math.ceil(tat - now) };
    }
    tats.set(key, after);
    const remaining = Math.floor((PERIOD - (after - now)) / spacing);
    return { denied: false, limit: BURST, remaining, retryAfterMs: -1, resetAfterMs: Math.ceil(after - now) };
  };
}

/** What is measured: each makes a function that checks a key. */
const subjects = {
  "tidegate, Engine": { make: () => with_(new Engine(), (engine) => (key) => engine.gcraLimit(key, PERIOD, BURST)) },
  "tidegate, HotKV (a promise)": {
    make: () => with_(new HotKV(), (client) => (key) => client.gcraLimit(key, PERIOD, BURST)),
    async: true,
  },
  "a Map by hand": { make: handWritten, target: { 1: 1, 10000: 1.5, 1000000: 3 } },
  "rate-limiter-flexible": {
    make: async () => {
      const { RateLimiterMemory } = await load("rate-limiter-flexible");
      const limiter = new RateLimiterMemory({ points: 1e12, duration: 60 });
      return (key) => limiter.consume(key);
    },
    async: true,
    target: { 1: 5, 10000: 5, 1000000: 7 },
  },
  "express-rate-limit's store": {
    make: async () => {
      const { MemoryStore } = await load("express-rate-limit");
      const store = new MemoryStore();
      store.init({ windowMs: PERIOD });
      return (key) => store.increment(key);
    },
    async: true,
    target: { 1000000: 5 },
  },
};

function with_(value, make) {
  return make(value);
}

/** A key as a request brings it: text that was not seen before. */
function freshKey(index) {
  return `user:${String(index).padStart(15, "0")}`;
}

async function measureSize(size) {
  const checks = {};
  for (const [name, { make }] of Object.entries(subjects)) checks[name] = await make();
  const count = size === 1 ? 200_000 : 300_000;
  const results = Object.fromEntries([...Object.keys(subjects), "making"].map((name) => [name, []]));
  // Every key is there before the first round.
  for (const name of Object.keys(subjects))
    for (let index = 0; index < size; index++) await checks[name](freshKey(index));
  let seed = 1;
  for (let round = -1; round < ROUNDS; round++) {
    for (const [name, { async: awaited = false }] of Object.entries(subjects)) {
      const keys = Array.from({ length: count }, () => {
        seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
        return Math.floor((seed / 2 ** 32) * size);
      });
      const check = checks[name];
      const start = performance.now();
      if (awaited) for (const key of keys) await check(freshKey(key));
      else for (const key of keys) check(freshKey(key));
      const ns = ((performance.now() - start) * 1e6) / count;
      if (round >= 0) results[name].push(ns);
    }
    const keys = Array.from({ length: count }, (_, index) => index % size);
    const start = performance.now();
    let length = 0;
    for (const key of keys) length += freshKey(key).length;
    if (length > 0 && round >= 0) results.making.push(((performance.now() - start) * 1e6) / count);
  }
  return results;
}

/** CPU microseconds of a queued job. */
async function measureJobs() {
  const count = 5_000;
  const { default: PQueue } = await load("p-queue");
  const { default: pThrottle } = await load("p-throttle");
  const { default: Bottleneck } = await load("bottleneck");
  const all = (add) => Promise.all(Array.from({ length: count }, (_, at) => add(at)));
  const runners = {
    "tidegate, Valve": () => {
      const valve = new Valve({ namespace: "ns", rate: { limit: 1e9, interval: 1000, burst: 1e6 } });
      return all((at) => valve.run(() => at));
    },
    "p-throttle": () => {
      const throttled = pThrottle({ limit: 1e9, interval: 1000 })((at) => at);
      return all((at) => throttled(at));
    },
    "p-queue": () => {
      const queue = new PQueue({ concurrency: 1e6 });
      return all((at) => queue.add(() => at));
    },
    bottleneck: () => {
      const limiter = new Bottleneck({ maxConcurrent: null });
      return all((at) => limiter.schedule(async () => at));
    },
  };
  const results = Object.fromEntries(Object.keys(runners).map((name) => [name, []]));
  for (let round = -1; round < 3; round++) {
    for (const [name, run] of Object.entries(runners)) {
      const before = process.cpuUsage();
      await run();
      const { user, system } = process.cpuUsage(before);
      if (round >= 0) results[name].push((user + system) / count);
    }
  }
  return results;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

const part = process.argv[2];
if (part === "jobs") {
  console.log(JSON.stringify(await measureJobs()));
} else if (part !== undefined) {
  console.log(JSON.stringify(await measureSize(Number(part))));
} else {
  const self = fileURLToPath(import.meta.url);
  const run = (part) =>
    JSON.parse(execFileSync(process.execPath, [self, part], { encoding: "utf8", maxBuffer: 1 << 26 }));
  console.log(
    `${cpus().length} cores of ${cpus()[0]?.model.trim()}, Node ${process.versions.node}, ${ROUNDS} rounds, medians (least to most)`,
  );
  for (const size of [1, 10_000, 1_000_000]) {
    const results = run(String(size));
    const ours = median(results["tidegate, Engine"]);
    console.log(
      `\n${size.toLocaleString("en-US")} ${size === 1 ? "key" : "keys"}: ns a check, making the key's text included (${Math.round(median(results.making))} ns)`,
    );
    for (const [name, { target = {} }] of Object.entries(subjects)) {
      const values = results[name];
      const ratio = median(values) / ours;
      const due = target[size];
      const verdict = due === undefined ? "" : `target ${due}x: ${ratio >= due ? "met" : "not met"}`;
      const spread = `(${Math.round(Math.min(...values))} to ${Math.round(Math.max(...values))})`;
      console.log(
        `${name.padEnd(30)}${String(Math.round(median(values))).padStart(7)} ${spread.padEnd(16)}${`${ratio.toFixed(1)}x`.padStart(7)}  ${verdict}`,
      );
    }
  }
  const jobs = run("jobs");
  console.log("\nCPU µs a queued job");
  for (const [name, values] of Object.entries(jobs)) {
    console.log(
      `${name.padEnd(30)}${median(values).toFixed(1).padStart(7)} ${`${(median(values) / median(jobs["tidegate, Valve"])).toFixed(1)}x`.padStart(24)}`,
    );
  }
}
