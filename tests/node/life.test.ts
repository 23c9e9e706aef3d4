import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { Engine, HotKV, HotKVError } from "tidegate";
import { callFailed } from "../../pkg/dist/module.js";

describe("F47: after close, a clear error", () => {
  it("from every method of Engine", () => {
    const engine = new Engine();
    engine.close();
    engine.close();
    const calls: readonly (() => unknown)[] = [
      () => engine.gcraLimit("a", 1000, 10),
      () => engine.gcraLimitMany(["a"], 1000, 10),
      () => engine.rateLimitCheck("a", "b"),
      () => engine.rateLimitCreate("a", 1, 1),
      () => engine.get("a"),
      () => engine.command("PING"),
      () => engine.execute(Buffer.from("PING\r\n")),
    ];
    for (const call of calls) assert.throws(call, { name: "HotKVError", code: "CLOSED" });
  });

  it("from every method of HotKV, whether it was used or not", async () => {
    for (const used of [false, true]) {
      const client = new HotKV();
      if (used) await client.gcraLimit("a", 1000, 10);
      await client.close();
      await client.close();
      await assert.rejects(client.gcraLimit("a", 1000, 10), { name: "HotKVError", code: "CLOSED" });
      await assert.rejects(client.rateLimitCheck("a", "b"), { code: "CLOSED" });
      await assert.rejects(client.command("PING"), { code: "CLOSED" });
    }
  });

  it("one engine's close leaves the others alone", () => {
    using kept = new Engine();
    const gone = new Engine();
    kept.gcraLimit("a", 60_000, 10);
    gone.close();
    assert.equal(kept.gcraLimit("a", 60_000, 10).remaining, 8);
  });
});

describe("no call can enter an engine twice", () => {
  it("a clock that calls the engine is answered first", () => {
    let nested = 0;
    const engine: Engine = new Engine({
      clock: () => {
        if (nested++ === 0) engine.gcraLimit("inner", 60_000, 10);
        return 1_764_547_200_000;
      },
    });
    assert.equal(engine.gcraLimit("outer", 60_000, 10).remaining, 9);
    assert.equal(engine.gcraLimit("outer", 60_000, 10).remaining, 8);
    assert.equal(engine.gcraLimit("inner", 60_000, 10).remaining, 8);
    engine.close();
  });

  it("a clock that is no clock is an error, and nothing is spent", () => {
    let now: unknown = 1000;
    using engine = new Engine({ clock: () => now as number });
    for (now of [Number.NaN, -1, 1.5, "now", undefined, 2 ** 53]) {
      assert.throws(() => engine.gcraLimit("a", 60_000, 10), { code: "INVALID_ARGUMENT", argument: "clock" });
    }
    now = 1000;
    assert.equal(engine.gcraLimit("a", 60_000, 10).remaining, 9);
  });
});

describe("F43: a WebAssembly instance that trapped", () => {
  it("its engines say so, and the next engine works", () => {
    const lost = new Engine();
    lost.gcraLimit("a", 60_000, 10);
    // A real trap needs memory to run out; what the engine does with one is the same.
    const trap = callFailed(new WebAssembly.RuntimeError("unreachable"));
    assert.ok(trap instanceof HotKVError && trap.code === "LOST");
    for (const call of [
      () => lost.gcraLimit("a", 60_000, 10),
      () => lost.rateLimitCheck("a", "b"),
      () => lost.gcraLimitMany(["a"], 60_000, 10),
      () => lost.get("a"),
    ]) {
      assert.throws(call, { name: "HotKVError", code: "LOST" });
    }
    using next = new Engine();
    assert.equal(next.gcraLimit("a", 60_000, 10).remaining, 9);
    lost.close();
    assert.throws(() => lost.gcraLimit("a", 60_000, 10), { code: "CLOSED" });
    assert.equal(next.gcraLimit("a", 60_000, 10).remaining, 8);
  });
});

describe("memory", () => {
  it("maxKeys refuses new keys with OOM while all are live, and keeps the limits of those", () => {
    let now = 1_764_547_200_000;
    using engine = new Engine({ maxKeys: 2, clock: () => now });
    engine.gcraLimit("a", 1000, 1);
    engine.gcraLimit("b", 2000, 1);
    assert.throws(() => engine.gcraLimit("c", 1000, 1), { code: "OOM" });
    assert.equal(engine.gcraLimit("a", 1000, 1).denied, true);
    now += 1000;
    assert.equal(engine.gcraLimit("c", 1000, 1).denied, false);
  });

  it("maxLimiters refuses one more named limiter", () => {
    using engine = new Engine({ maxLimiters: 1 });
    engine.rateLimitCreate("a", 1, 1);
    assert.throws(() => engine.rateLimitCreate("b", 1, 1), { message: "ERR limiter already exists or limit reached" });
  });

  it("a million live keys of 20 bytes fit 100 MB of wasm memory, and ten million calls after that need no more", () => {
    // In a process of its own, so that nothing else is in the same wasm memory.
    const result = spawnSync(process.execPath, [new URL("memory.ts", import.meta.url).pathname], { encoding: "utf8" });
    assert.equal(result.status, 0, result.stderr);
    const { full, after } = JSON.parse(result.stdout);
    assert.ok(full <= 100 * 1024 * 1024, `${full} bytes with 1,000,000 live keys`);
    assert.equal(after, full);
  });

  it("F45: a thousand engines made and dropped leave memory flat", () => {
    const result = spawnSync(process.execPath, [new URL("memory.ts", import.meta.url).pathname, "engines"], {
      encoding: "utf8",
    });
    assert.equal(result.status, 0, result.stderr);
    const { full, after } = JSON.parse(result.stdout);
    assert.equal(after, full);
  });
});

describe("F32: a process that made one check exits by itself", () => {
  for (const [name, script] of Object.entries({
    Engine: `new (await import("tidegate")).Engine().gcraLimit("a", 60000, 10);`,
    HotKV: `await new (await import("tidegate")).HotKV().gcraLimit("a", 60000, 10);`,
  })) {
    it(name, () => {
      const { status, signal, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
        cwd: new URL(".", import.meta.url),
        timeout: 20_000,
        encoding: "utf8",
      });
      assert.deepEqual({ status, signal, stderr }, { status: 0, signal: null, stderr: "" });
    });
  }
});

describe("the module stays small", () => {
  // The aim is 80 KB, and 32 KB in gzip; docs/performance.md says what stands in the way of that one. Until then it must not grow.
  const bytes = readFileSync(new URL("../../pkg/wasm/tidegate_bg.wasm", import.meta.url));
  it("at most 80 KB", () => assert.ok(bytes.length <= 80 * 1024, `${bytes.length} bytes`));
  it("no larger than it is in gzip", () => {
    const zipped = gzipSync(bytes, { level: 9 }).length;
    assert.ok(zipped <= 40.25 * 1024, `${zipped} bytes`);
  });
});

describe("F47: a clock that closes its engine", () => {
  const uses: Readonly<Record<string, (engine: Engine) => unknown>> = {
    gcraLimit: (engine) => engine.gcraLimit("key", 60_000, 1),
    gcraLimitMany: (engine) => engine.gcraLimitMany(["key"], 60_000, 1),
    rateLimitCheck: (engine) => engine.rateLimitCheck("name", "key"),
    get: (engine) => engine.get("key"),
  };
  for (const [name, use] of Object.entries(uses)) {
    it(`gets a clear error from ${name}, and decides in no other engine`, () => {
      let other: Engine | undefined;
      let closes = false;
      const engine = new Engine({
        clock: () => {
          if (closes) {
            engine.close();
            // It may be where the closed one was.
            other ??= new Engine();
          }
          return 1_764_547_200_000;
        },
      });
      engine.rateLimitCreate("name", 1, 60_000);
      engine.get("key");
      closes = true;
      assert.throws(() => use(engine), { code: "CLOSED" });
      assert.equal(other?.dbSize(), 0);
    });
  }
});
