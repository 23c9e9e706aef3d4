import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, describe, it } from "node:test";
import { HotKV } from "tidegate";
import { type ConformingStore, itConforms } from "../conformance.ts";
import { nodeWithin } from "../full_disk.ts";

// In memory where there is such a folder: these tests prove what is stored, not that a disk keeps it.
const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tidegate-file-"));
after(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;

/** A fresh file whose clock is set by each command. */
async function openFile(): Promise<Required<ConformingStore>> {
  const url = freshUrl();
  let now = 0;
  const open = () => new HotKV({ url, clock: () => now });
  let client = open();
  return {
    command: (at, [name = "", ...args]) => {
      now = at;
      return client.command(name, ...args);
    },
    reopen: async () => {
      await client.close();
      client = open();
    },
    close: () => client.close(),
  };
}

describe("file: every worked case holds, and the file is closed and opened again after every third step", () => {
  itConforms(openFile, { reopenEvery: 3 });
});

describe("a transaction of a client", () => {
  for (const kind of ["memory:", "file:"]) {
    it(`${kind} comes whole, so that no other call is queued in it`, async () => {
      await using client = new HotKV({ url: kind === "file:" ? freshUrl() : kind });
      const alone = [client.command("multi"), client.pipeline([["SET", "text", 1], ["MULTI"], ["SET", "text", 2]])];
      for (const refused of alone)
        await assert.rejects(refused, { code: "ERR", message: /MULTI is not offered by itself/ });
      assert.equal(await client.get("text"), null);
      const replies = await client.pipeline([
        ["MULTI"],
        ["SET", "text", 3],
        ["EXEC"],
        ["MULTI"],
        ["SET", "text", 4],
        ["DISCARD"],
      ]);
      assert.deepEqual(replies, ["OK", "QUEUED", ["OK"], "OK", "QUEUED", "OK"]);
      assert.equal(await client.get("text"), "3");
    });
  }
});

describe("the clock steps back, and the file is closed and opened again", () => {
  const START = 1_764_547_200_000;
  const ONE_AT_ONCE = JSON.stringify({
    rate: { limit: 100, interval: "1h", algorithm: "fixed-window" },
    concurrency: { limit: 1, lease: 1000 },
  });
  const TWO_IN_5_S = JSON.stringify({ limit: 2, interval: "5s", algorithm: "sliding-window" });

  /** What each admission of a policy is answered, by how many ms after the start it asks; a number alone opens the file again. */
  async function answers(policy: string, steps: readonly (number | readonly [number, ...string[]])[]) {
    const store = await openFile();
    const fingerprint = String(await store.command(START, ["VALVE.DEFINE", "n", policy]));
    const replies: unknown[] = [];
    for (const step of steps) {
      if (typeof step === "number") {
        await store.reopen();
        // Time passes, and nothing of the namespace is in memory.
        await store.command(START + step, ["GET", "other"]);
        continue;
      }
      const [at, ...job] = step;
      const reply = await store.command(START + at, ["VALVE.ADMIT", "n", fingerprint, "1", ...job]);
      replies.push((reply as unknown[]).slice(0, 2));
    }
    await store.close();
    return replies;
  }

  it("a lease that was taken an hour ahead runs out a lease after it was first looked at, however often the file is opened", async () => {
    const steps = [
      [3_600_000, "LEASE", "a"],
      [0, "LEASE", "b"],
      400,
      [500, "LEASE", "c"],
      900,
      [1000, "LEASE", "d"],
    ] as const;
    assert.deepEqual(await answers(ONE_AT_ONCE, steps), [
      [1, 0],
      [0, 1000],
      [0, 500],
      [1, 0],
    ]);
  });

  it("a lease that had run out before stays free", async () => {
    const steps = [[0, "LEASE", "a"], 2000, [500, "LEASE", "b"]] as const;
    assert.deepEqual(await answers(ONE_AT_ONCE, steps), [
      [1, 0],
      [1, 0],
    ]);
  });

  it("an entry of a log that is moved leaves none behind", async () => {
    const ahead = ["RESERVE", "20000"] as const;
    // The third starts at 15,000. Two seconds back that is 13,000, to which its entry moves; so the fourth starts when the entry at
    // 12,000 leaves, at 17,000, and the fifth when the one at 13,000 does.
    const steps = [[10_000], [12_000], [12_500, ...ahead], [10_500, ...ahead], 10_500, [10_500, ...ahead]] as const;
    assert.deepEqual(await answers(TWO_IN_5_S, steps), [
      [1, 0],
      [1, 0],
      [1, 2500],
      [1, 6500],
      [1, 7500],
    ]);
  });
});

describe("file:", () => {
  it("a budget outlives the process that spent it", () => {
    const url = freshUrl();
    const spend = `
      const { HotKV } = await import("tidegate");
      const client = new HotKV({ url: ${JSON.stringify(url)} });
      console.log(JSON.stringify(await client.gcraLimit("a", 3600000, 2)));`;
    const remaining = [1, 2, 3].map(() => JSON.parse(inNewProcess(spend)));
    assert.deepEqual(
      remaining.map((result) => [result.denied, result.remaining]),
      [
        [false, 1],
        [false, 0],
        [true, 0],
      ],
    );
  });

  it("a second client is refused with a sentence, and can have the file once the first one is closed", async () => {
    const url = freshUrl();
    const first = new HotKV({ url });
    await first.gcraLimit("a", 60_000, 10);
    const second = new HotKV({ url });
    await assert.rejects(second.gcraLimit("a", 60_000, 10), { code: "STORE_UNAVAILABLE", message: /is open already/ });
    const other = `
      const { HotKV } = await import("tidegate");
      await new HotKV({ url: ${JSON.stringify(url)} }).get("a").catch((error) => console.log(error.message));`;
    assert.match(inNewProcess(other), /is open already/);
    await first.close();
    const third = new HotKV({ url });
    assert.equal((await third.gcraLimit("a", 60_000, 10)).remaining, 8);
    await third.close();
  });

  it("a runtime without node:sqlite gets told which ones have it", () => {
    const script = `
      process.getBuiltinModule = () => undefined;
      const { HotKV } = await import("tidegate");
      await new HotKV({ url: "file:never" }).get("a").catch((error) => console.log(error.code, error.message));`;
    assert.match(inNewProcess(script), /^STORE_UNAVAILABLE file: needs node:sqlite.*22\.13/);
  });

  it("what can't be opened is a clear error", async () => {
    const client = new HotKV({ url: `file:${join(folder, "no/such/folder.db")}` });
    await assert.rejects(client.get("a"), { code: "STORE_UNAVAILABLE", message: /can't open .*folder\.db/ });
    assert.throws(() => new HotKV({ url: "file:" }), { code: "INVALID_ARGUMENT", argument: "url" });
  });

  it("says whether trying again may help: with a file that somebody has, and not with one that can't be read", async () => {
    const url = freshUrl();
    const failure = async () => {
      await using client = new HotKV({ url });
      return client.get("a").then(
        () => undefined,
        ({ code, retryable }) => [code, retryable],
      );
    };
    const path = url.slice("file:".length);
    {
      await using _other = await opened(url);
      assert.deepEqual(await failure(), ["STORE_UNAVAILABLE", true]);
    }
    const database = new DatabaseSync(path);
    database.exec("UPDATE tidegate SET a = 99 WHERE space = -1");
    database.close();
    assert.deepEqual(await failure(), ["STORE_UNAVAILABLE", false]);
    writeFileSync(path, "not a database ".repeat(1000));
    assert.deepEqual(await failure(), ["STORE_UNAVAILABLE", false]);
  });

  it("a full disk: every call says so, nothing is spent, and a close lets go of the file all the same", () => {
    const url = freshUrl();
    const script = `
      const { HotKV } = await import("tidegate");
      const client = new HotKV({ url: ${JSON.stringify(url)} });
      await client.rateLimitCreate("api", 1, 3600000);
      for (let call = 0; call < 2; call++) await client.rateLimitCheck("api", "a");
      let spent = 0;
      for (const failures = []; failures.length < 3; ) {
        await client.gcraLimit("k" + spent, 3600000, 3).then(
          () => spent++,
          ({ name, code, retryable }) => failures.push(name + code + retryable),
        );
        if (failures.length === 3) console.log(failures.join());
      }
      console.log((await client.rateLimitCheck("api", "a")).allowed);
      console.log(await client.close().catch(({ name, code }) => name + code));
      console.log(spent);`;
    const failed = "HotKVErrorSTORE_UNAVAILABLE";
    const lines = inNewProcess(script, 400).trim().split("\n");
    assert.deepEqual(lines.slice(0, -1), [Array(3).fill(`${failed}true`).join(), "false", failed]);
    const spent = Number(lines.at(-1));
    assert.ok(spent > 10, `${spent} were answered`);
    const remaining = inNewProcess(`
      const { HotKV } = await import("tidegate");
      const client = new HotKV({ url: ${JSON.stringify(url)} });
      for (let key = 0; key <= ${spent}; key++) {
        console.log((await client.gcraLimit("k" + key, 3600000, 3)).remaining);
      }`);
    assert.deepEqual(remaining.trim().split("\n").map(Number), [...Array(spent).fill(1), 2]);
  });

  it("a refusal's count is saved by a close", async () => {
    const url = freshUrl();
    const first = new HotKV({ url });
    await first.rateLimitCreate("api", 1, 3_600_000);
    for (let call = 0; call < 4; call++) await first.rateLimitCheck("api", "a");
    await first.close();
    const second = new HotKV({ url });
    const { totalAllowed, totalDenied, uniqueKeys } = await second.rateLimitStats("api");
    assert.deepEqual([totalAllowed, totalDenied, uniqueKeys], [1, 3, 1]);
    await second.close();
  });

  it("keys are listed and counted whether they are in memory or not", async () => {
    const url = freshUrl();
    const first = new HotKV({ url });
    for (const key of ["a", "b", "c"]) await first.set(key, "1");
    await first.set("gone", "1", { px: 1 });
    await first.close();
    await new Promise((done) => setTimeout(done, 3));
    const second = new HotKV({ url });
    await second.set("d", "1");
    assert.equal(await second.dbSize(), 4);
    assert.deepEqual((await second.keys()).sort(), ["a", "b", "c", "d"]);
    await second.flushAll();
    assert.equal(await second.dbSize(), 0);
    assert.equal(await second.get("a"), null);
    await second.close();
  });

  it("a key that holds any bytes is its own key", async () => {
    const url = freshUrl();
    const keys = [new Uint8Array([0]), new Uint8Array([0, 0]), new Uint8Array([255, 254]), new Uint8Array([195])];
    const first = new HotKV({ url });
    for (const [index, key] of keys.entries()) await first.command("SET", key, index);
    await first.close();
    const second = new HotKV({ url });
    for (const [index, key] of keys.entries()) assert.equal(await second.command("GET", key), String(index));
    await second.close();
  });

  it("an expiry at 2^53 and a log's entries past it are kept", async () => {
    const url = freshUrl();
    const now = Number.MAX_SAFE_INTEGER - 10;
    const open = () => new HotKV({ url, clock: () => now });
    const first = open();
    await first.set("a", "1", { px: 2 ** 53 - now });
    await first.rateLimitCreate("api", 5000, 3_000_000_000);
    assert.equal((await first.rateLimitCheck("api", "a", { cost: 5000 })).allowed, true);
    await first.close();
    const second = open();
    assert.equal(await second.get("a"), "1");
    assert.equal((await second.rateLimitPeek("api", "a")).current, 5000);
    await second.close();
  });

  it("times past 2^53 are kept exactly", async () => {
    const url = freshUrl();
    const first = new HotKV({ url });
    await first.set("a", "9007199254740993.000000001", { px: Number.MAX_SAFE_INTEGER });
    const left = await first.pttl("a");
    await first.close();
    const second = new HotKV({ url });
    assert.equal(await second.get("a"), "9007199254740993.000000001");
    assert.ok(left - (await second.pttl("a")) < 60_000);
    await second.close();
  });
});

function freshUrl(): string {
  return `file:${join(folder, `${++files}.db`)}`;
}

/** A client that has the file. */
async function opened(url: string): Promise<HotKV> {
  const client = new HotKV({ url });
  await client.set("a", "1");
  return client;
}

/** What a script prints in a process of its own, where no file can grow past so many blocks, which looks like a full disk. */
function inNewProcess(script: string, blocks: number | "unlimited" = "unlimited"): string {
  const [program, ...first] = nodeWithin(blocks);
  const { status, stdout, stderr } = spawnSync(program, [...first, "--input-type=module", "--eval", script], {
    cwd: import.meta.dirname,
    encoding: "utf8",
    timeout: 20_000,
  });
  assert.equal(status, 0, stderr);
  assert.equal(stderr, "");
  return stdout;
}
