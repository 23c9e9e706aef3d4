import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type Failure, TestWorker } from "./harness.ts";

let worker: TestWorker;
before(async () => {
  worker = await TestWorker.start({ TIDEGATE_MAX_LIMITERS: "3" });
});
after(() => worker?.stop());

/** Options for a namespace that nothing else has. */
function fresh(options: object = {}): object {
  return { namespace: worker.fresh("client"), ...options };
}

describe("HotKV over Durable Objects", () => {
  it("commands of one turn for one object travel as one call", async () => {
    const options = fresh({ denyCacheMs: 0 });
    await worker.count();
    const commands = Array.from({ length: 16 }, () => ["GCRA.LIMIT", "same", 60_000, 100]);
    const replies = await worker.ask<number[][]>("/parallel", { options, commands });
    assert.deepEqual(
      replies.map((reply) => reply[2]),
      commands.map((_, index) => 99 - index),
    );
    assert.equal((await worker.count()).calls, 1);
    await worker.run(options, [...commands, ["GET", "other"]]);
    assert.equal((await worker.count()).calls, 2);
  });

  it("one client serves all requests, whose names need a digest or not", async () => {
    for (const object of [worker.fresh("short"), worker.fresh("long".repeat(200))]) {
      const asks = Array.from({ length: 50 }, () => worker.ask<{ remaining: number }>("/shared", { object }));
      const left = (await Promise.all(asks)).map(({ remaining }) => remaining);
      assert.deepEqual(
        left.toSorted((a, b) => a - b),
        asks.map((_, at) => at),
      );
    }
  });

  it("a job's lease is given back before the request that ran it ends", async () => {
    const options = fresh();
    for (let request = 0; request < 10; request++) {
      assert.equal(await worker.ask("/job", { options }), "done", `request ${request}`);
    }
  });

  it("keys of one hash tag share an object, others do not", async () => {
    const options = fresh();
    await worker.count();
    await worker.run(options, [
      ["SET", "rl:{user:42}:search", 1],
      ["SET", "rl:{user:42}:upload", 1],
      ["SET", "user:42", 1],
    ]);
    assert.equal((await worker.count()).calls, 1);
    await worker.run(options, [
      ["GET", "a"],
      ["GET", "b"],
    ]);
    assert.equal((await worker.count()).calls, 2);
  });

  it("F46: 101 keys in one RESET, in one object and over many", async () => {
    for (const name of [(key: number) => `{tag}${key}`, (key: number) => `key ${key}`]) {
      const options = fresh();
      const keys = Array.from({ length: 101 }, (_, key) => name(key));
      await worker.run(
        options,
        keys.map((key) => ["GCRA.LIMIT", key, 60_000, 1]),
      );
      const replies = await worker.run(options, [
        ["EXISTS", ...keys, "not there"],
        ["GCRA.RESET", ...keys],
        ["DEL", ...keys],
      ]);
      assert.deepEqual(replies, [101, 101, 0]);
    }
  });

  it("MULTI over one object runs, over several it is refused with CROSSSLOT and nothing runs", async () => {
    const options = fresh();
    const one = await worker.run(options, [["MULTI"], ["SET", "{a}1", "x"], ["GET", "{a}1"], ["EXEC"]]);
    assert.deepEqual(one, ["OK", "QUEUED", "QUEUED", ["OK", "x"]]);
    const several = await worker.run(options, [
      ["MULTI"],
      ["SET", "a", "x"],
      ["SET", "b", "x"],
      ["EXEC"],
      ["GET", "a"],
    ]);
    assert.deepEqual(
      several.map((reply) => (reply as Failure | null)?.code ?? reply),
      ["OK", "CROSSSLOT", "CROSSSLOT", "EXECABORT", null],
    );
  });

  it("says clearly what is not offered across objects", async () => {
    for (const command of [["KEYS", "*"], ["SCAN", 0], ["DBSIZE"], ["FLUSHALL"], ["FLUSHDB"]]) {
      const [reply] = await worker.run(fresh(), [command]);
      assert.match((reply as Failure).error, /^ERR [A-Z]+ is not offered across Durable Objects/);
    }
    const [reply] = await worker.run(fresh(), [["MULTI"]]);
    assert.match((reply as Failure).error, /^ERR MULTI is not offered by itself/);
  });

  it("a command that is wrong in itself is refused as anywhere else", async () => {
    const replies = await worker.run(fresh(), [["GET"], ["NOSUCH", "a"], ["GCRA.LIMIT", "a", 0, 1], ["PING"]]);
    assert.deepEqual(
      replies.map((reply) => (reply as Failure).error ?? reply),
      [
        "ERR wrong number of arguments for 'get' command",
        "ERR unknown command 'NOSUCH'",
        "ERR value is not an integer or out of range",
        "PONG",
      ],
    );
  });

  it("names over 512 bytes and names of any bytes have objects of their own", async () => {
    const options = fresh();
    const long = "x".repeat(600);
    const keys = [long, `${long}y`, "é".repeat(300), "a\0b", "a"];
    await worker.run(
      options,
      keys.map((key, index) => ["SET", key, index]),
    );
    const replies = await worker.run(
      options,
      keys.map((key) => ["GET", key]),
    );
    assert.deepEqual(replies, ["0", "1", "2", "3", "4"]);
  });

  it("limiters: one list, one count and max-limiters over all objects", async () => {
    const options = fresh();
    const replies = await worker.run(options, [
      ["RATELIMIT.CREATE", "c", 1, 1000],
      ["RATELIMIT.CREATE", "a", 1, 1000, "ALGO", "token_bucket", "REFILL", "2.5"],
      ["RATELIMIT.CREATE", "a", 1, 1000],
      ["RATELIMIT.CREATE", "b", 1, 1000],
      ["RATELIMIT.CREATE", "d", 1, 1000],
      ["RATELIMIT.LIST"],
      ["RATELIMIT.DROP", "a"],
      ["RATELIMIT.LIST"],
      ["RATELIMIT.CREATE", "d", 1, 1000],
      ["RATELIMIT.CHECK", "a", "k"],
      ["RATELIMIT.LIST"],
    ]);
    const taken = "ERR limiter already exists or limit reached";
    assert.deepEqual(
      replies.map((reply) => (reply as Failure).error ?? reply),
      [
        "OK",
        "OK",
        taken,
        "OK",
        taken,
        ["a", "b", "c"],
        "OK",
        ["b", "c"],
        "OK",
        "ERR limiter not found",
        ["b", "c", "d"],
      ],
    );
  });

  it("F35: fifty parallel checks on burst 10 with a slow store: exactly 10 pass", async () => {
    const options = fresh();
    await worker.count(20);
    const asks = Array.from({ length: 50 }, () => worker.run(options, [["GCRA.LIMIT", "hot", 3_600_000, 10]], null));
    const replies = (await Promise.all(asks)) as number[][][];
    await worker.count();
    assert.equal(replies.filter(([reply]) => reply?.[0] === 0).length, 10);
  });
});

describe("refusals that are remembered", () => {
  const limit = (count = 1) => ["GCRA.LIMIT", "k", 10_000, 10, count];

  it("the same ask and a dearer one are answered here, a cheaper one is not", async () => {
    const options = fresh();
    await worker.run(options, [limit(8)], null);
    const [first] = (await worker.run(options, [limit(3)])) as number[][];
    await worker.count();
    const [same] = (await worker.run(options, [limit(3)])) as number[][];
    const [dearer] = (await worker.run(options, [limit(4)])) as number[][];
    const [never] = (await worker.run(options, [limit(11)])) as number[][];
    assert.equal((await worker.count()).calls, 0);
    const [, , remaining = 0, retry = 0, reset = 0] = first ?? [];
    assert.deepEqual(
      [same?.[0], same?.[1], same?.[2], dearer?.[0], never?.[0], never?.[3]],
      [1, 10, remaining, 1, 1, -1],
    );
    assert.ok((same?.[3] ?? 0) <= retry && (same?.[3] ?? 0) > retry - 500, `${same?.[3]} of ${retry}`);
    assert.equal((same?.[3] ?? 0) - (same?.[4] ?? 0), retry - reset);
    assert.ok((dearer?.[3] ?? 0) > (same?.[3] ?? 0) + 500);
    assert.equal(((await worker.run(options, [limit(1)])) as number[][])[0]?.[0], 0);
    assert.equal((await worker.count()).calls, 1);
  });

  it("F39: this isolate's own reset counts at once, another one's within denyCacheMs", async () => {
    const options = fresh({ denyCacheMs: 400 });
    const denied = async () => ((await worker.run(options, [limit(10)])) as number[][])[0]?.[0];
    await worker.run(options, [limit(10)], null);
    assert.equal(await denied(), 1);
    await worker.run(options, [["GCRA.RESET", "k"]]);
    assert.equal(await denied(), 0);
    assert.equal(await denied(), 1);
    // As another isolate would: this one's client, which remembers, does not see it.
    const { namespace } = options as { namespace: string };
    await worker.one(`key:${encodeURIComponent(namespace)}:k`, Date.now(), "DEL", "k");
    assert.equal(await denied(), 1);
    await new Promise((done) => setTimeout(done, 450));
    await worker.ask("/count", { at: null });
    assert.equal(await denied(), 0);
  });

  it("denyCacheMs: 0 asks every time, and named limiters are always asked", async () => {
    const asking = fresh({ denyCacheMs: 0 });
    await worker.run(asking, [limit(10)], null);
    await worker.run(asking, [limit(10)]);
    const named = fresh();
    await worker.run(named, [
      ["RATELIMIT.CREATE", "l", 1, 60_000],
      ["RATELIMIT.CHECK", "l", "k"],
      ["RATELIMIT.CHECK", "l", "k"],
    ]);
    await worker.count();
    await worker.run(asking, [limit(10)]);
    await worker.run(named, [["RATELIMIT.CHECK", "l", "k"]]);
    assert.equal((await worker.count()).calls, 2);
  });
});

describe("a store that does not answer in time", () => {
  it("rejects, allows or denies, as the client wants, and says that it was not the store", async () => {
    await worker.count(400);
    const ask = (onUnavailable?: string) =>
      worker.ask<Partial<Failure>>("/limit", {
        options: fresh({ timeoutMs: 50, ...(onUnavailable === undefined ? {} : { onUnavailable }) }),
      });
    const [thrown, allowed, denied] = [await ask(), await ask("allow"), await ask("deny")];
    await worker.count();
    assert.deepEqual([thrown.code, thrown.retryable], ["STORE_UNAVAILABLE", true]);
    // What is not known is NaN, which JSON shows as null: never a number that was made up.
    const unknown = { limit: 10, remaining: null, resetAfterMs: null, unavailable: true };
    assert.deepEqual(allowed, { denied: false, retryAfterMs: -1, ...unknown });
    assert.deepEqual(denied, { denied: true, retryAfterMs: null, ...unknown });
  });

  it("every command of a call that fails is told so", async () => {
    await worker.count(400);
    const commands = Array.from({ length: 3 }, () => ["GCRA.LIMIT", "k", 60_000, 10]);
    const replies = await worker.ask<Failure[]>("/parallel", { options: fresh({ timeoutMs: 50 }), commands });
    await worker.count();
    assert.deepEqual(
      replies.map(({ code, retryable }) => [code, retryable]),
      commands.map(() => ["STORE_UNAVAILABLE", true]),
    );
  });
});
