import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { HotKVError } from "tidegate";
import { type ConformingStore, itConforms } from "../conformance.ts";
import { parseReply, resp } from "../node/vectors.ts";
import { bundle, temporaryFolder, Workerd } from "./workerd.ts";

const folder = temporaryFolder();
let workerd: Workerd;
let namespaces = 0;

before(async () => {
  const worker = await bundle("./worker.ts", folder);
  workerd = await Workerd.start({
    folder: worker,
    storage: join(folder, "storage"),
    classes: { TIDEGATE: "TestObject" },
    variables: { TIDEGATE_MAX_LIMITERS: "10000" },
  });
});

after(async () => {
  await workerd?.kill();
  rmSync(folder, { recursive: true, force: true });
});

async function ask<T>(path: string, body: object): Promise<T> {
  const response = await fetch(workerd.url + path, { method: "POST", body: JSON.stringify(body) });
  assert.equal(response.status, 200, await response.clone().text());
  const text = await response.text();
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

/** One object by itself: what the worked cases mean by an engine. */
async function openObject(): Promise<ConformingStore> {
  const object = `engine ${++namespaces}`;
  return {
    command: async (at, command) => {
      const url = `${workerd.url}/raw?${new URLSearchParams({ object, at: String(at) })}`;
      const response = await fetch(url, { method: "POST", body: new Uint8Array(resp(command)) });
      const reply = parseReply(new Uint8Array(await response.arrayBuffer()));
      if (reply === null || typeof reply !== "object" || Array.isArray(reply)) return reply;
      if ("error" in reply) throw HotKVError.fromReply(reply.error);
      return reply.ok;
    },
    reopen: () => ask("/reopen", {}),
    close: async () => {},
  };
}

/** As {@link openObject}, with every check that can be asked by its plain arguments asked so. */
async function openObjectTyped(): Promise<ConformingStore> {
  const store = await openObject();
  const object = `engine ${namespaces}`;
  return {
    ...store,
    command: async (at, command) => {
      const typed = typedOf(command);
      return typed === undefined ? store.command(at, command) : readTyped(await ask("/typed", { object, at, typed }));
    },
  };
}

type Typed = readonly ["gcraLimit", string] | readonly ["rateLimitCheck", string, string];

/** The call that stands for a command, when its numbers are some. */
function typedOf([name = "", ...args]: readonly string[]): Typed | undefined {
  const isNumber = (text: string | undefined) => text !== undefined && /^[1-9]\d{0,14}$/.test(text);
  switch (name.toUpperCase()) {
    case "GCRA.LIMIT": {
      const [key, period, burst, count = "1"] = args;
      if (key === undefined || args.length > 4 || ![period, burst, count].every(isNumber)) return undefined;
      return ["gcraLimit", `${period} ${burst} ${count} ${key}`];
    }
    case "RATELIMIT.CHECK": {
      const [limiter, key, option = "COST", cost = "1"] = args;
      if (limiter === undefined || key === undefined || args.length > 4 || args.length === 3) return undefined;
      if (option.toUpperCase() !== "COST" || !isNumber(cost)) return undefined;
      return ["rateLimitCheck", limiter, `${cost} ${key}`];
    }
    default:
      return undefined;
  }
}

function readTyped(answer: unknown): unknown {
  if (typeof answer === "string" && answer.startsWith("[")) return JSON.parse(answer);
  throw HotKVError.fromReply(String(answer));
}

/** A namespace of its own over the package's class in workerd. */
async function openNamespace(placement: "tag" | "slot"): Promise<ConformingStore> {
  const options = { namespace: `vectors ${++namespaces}`, placement, denyCacheMs: 0 };
  return {
    command: async (at, command) => {
      const [reply] = await ask<unknown[]>("/run", { at, options, commands: [command] });
      if (reply !== null && typeof reply === "object" && "error" in reply)
        throw HotKVError.fromReply(String(reply.error));
      return reply;
    },
    reopen: () => ask("/reopen", {}),
    close: async () => {},
  };
}

describe("a Durable Object: the worked cases hold, its engine ended and built anew after every seventh step", () => {
  itConforms(openObject, { reopenEvery: 7 });
});

describe("a Durable Object asked for lone decisions: the worked cases hold, its engine ended and built anew", () => {
  itConforms(openObjectTyped, { reopenEvery: 7 });

  it("what is wrong gets the error that the command gets, and changes nothing", async () => {
    const store = await openObject();
    const object = `engine ${namespaces}`;
    const at = 1_764_547_200_000;
    await store.command(at, ["SET", "text", "hello"]);
    await store.command(at, ["RATELIMIT.CREATE", "uploads", "5", "1000"]);
    const long = "x".repeat(4097);
    const errors: [Typed, string][] = [
      [["gcraLimit", "1000 5 1 text"], "WRONGTYPE Operation against a key holding the wrong kind of value"],
      [["gcraLimit", `1000 5 1 ${long}`], "ERR key must be at most 4096 bytes, not 4097"],
      [["gcraLimit", "1.5 5 1 k"], "ERR value is not an integer or out of range"],
      [["gcraLimit", "1000 -1 1 k"], "ERR value is not an integer or out of range"],
      [["gcraLimit", "1000 5"], "ERR value is not an integer or out of range"],
      [["gcraLimit", ""], "ERR value is not an integer or out of range"],
      [["gcraLimit", "1000 5 0 k"], "ERR value is not an integer or out of range"],
      [["rateLimitCheck", "nobody", "1 k"], "ERR limiter not found"],
      [["rateLimitCheck", "uploads", `1 ${long}`], "ERR key must be at most 4096 bytes, not 4097"],
    ];
    for (const [typed, error] of errors) assert.equal(await ask("/typed", { object, at, typed }), error);
    for (const command of [
      ["GCRA.LIMIT", "text", "1000", "5"],
      ["GCRA.LIMIT", long, "1000", "5"],
      ["RATELIMIT.CHECK", "nobody", "k"],
      ["RATELIMIT.CHECK", "uploads", long],
    ]) {
      const typed = typedOf(command);
      const message = errors.find(([wrong]) => isDeepStrictEqual(wrong, typed))?.[1];
      assert.ok(message);
      await assert.rejects(store.command(at, command), { message });
    }
    assert.equal(await store.command(at, ["GET", "text"]), "hello");
    assert.equal(await store.command(at, ["DBSIZE"]), 1);
  });

  it("a key may have spaces anywhere, or be empty", async () => {
    const store = await openObject();
    const object = `engine ${namespaces}`;
    const at = 1_764_547_200_000;
    for (const key of ["", " ", " a key  with spaces "]) {
      assert.equal(await ask("/typed", { object, at, typed: ["gcraLimit", `1000 5 1 ${key}`] }), "[0,5,4,-1,200]");
      assert.deepEqual(await store.command(at, ["GCRA.LIMIT", key, "1000", "5"]), [0, 5, 3, -1, 400]);
    }
  });

  it("a budget may take 285,000 years to recover, which no alarm can wait for", async () => {
    const object = `years ${++namespaces}`;
    const typed: Typed = ["gcraLimit", `${Number.MAX_SAFE_INTEGER} 1 1 k`];
    assert.equal(await ask("/typed", { object, at: 1000, typed }), "[0,1,0,-1,9007199254740991]");
    const options = { namespace: object, denyCacheMs: 0 };
    const commands = [["GCRA.LIMIT", "k", Number.MAX_SAFE_INTEGER, 1, 1]];
    assert.deepEqual(await ask("/run", { at: 1000, options, commands }), [[0, 1, 0, -1, 9_007_199_254_740_991]]);
  });

  it("text with half a character is never asked", async () => {
    const options = { namespace: `half ${++namespaces}` };
    const [reply] = await ask<[{ error: string }]>("/parallel", {
      options,
      commands: [["GCRA.LIMIT", "\ud83c", 1000, 1, 1]],
    });
    assert.match(reply.error, /without lone surrogates/);
  });
});

// Every key is in an object of its own, which knows only the times that it served itself. Where the cases let the clock step
// back after another key was asked, one engine drops what had expired by that key's time, and these objects can't. One
// object by itself, above, holds those cases too.
describe("HotKV over Durable Objects: the worked cases hold wherever each key is", () => {
  for (const placement of ["tag", "slot"] as const) {
    describe(`placement by ${placement}`, () => {
      itConforms(() => openNamespace(placement), { monotonic: true, everyCase: 2, reopenEvery: 11 });
    });
  }
});
