import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Engine, HotKV, HotKVError } from "tidegate";
import { HotKV as NetworkClient } from "tidegate/client";
import { openHost, serve } from "tidegate/server";
import { HotKV as WorkerClient } from "../../pkg/dist/workers/client.js";

const NOW = 1_764_547_200_000;
const clock = () => NOW;

/** What is never a limit, a period, a burst or a cost. */
const notIntegers: readonly unknown[] = [
  Number.NaN,
  "1",
  1.5,
  -5,
  0,
  -0,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  2 ** 53,
  null,
  true,
  {},
  [],
  [1],
  1n,
  new Number(1),
  () => 1,
  Symbol("one"),
];

/** What is never a key, a name or an identity. */
const notNames: readonly unknown[] = [
  undefined,
  null,
  1,
  true,
  {},
  [],
  ["a"],
  new String("a"),
  Symbol("a"),
  new Uint8Array(1),
];

function refusal(argument: string, value: unknown): (error: unknown) => true {
  return (error) => {
    assert.ok(error instanceof HotKVError, `${String(value)}: ${error}`);
    assert.equal(error.code, "INVALID_ARGUMENT");
    assert.equal(error.argument, argument);
    assert.ok(Object.is(error.value, value), "the error shows the value");
    assert.ok(error.allowed, "the error says what is allowed");
    assert.ok(error.message.includes(argument) && error.message.includes(error.allowed));
    return true;
  };
}

describe("F5, F6: a number that is not an integer from 1 to 2^53 - 1 is refused by name, and spends nothing", () => {
  // The arguments are wrong on purpose, so the methods are called as if from plain JavaScript.
  type Call = (store: Engine | HotKV, value: never) => unknown;
  const calls: Readonly<Record<string, readonly [argument: string, call: Call]>> = {
    "gcraLimit period": ["period", (store, value) => store.gcraLimit("k", value, 10)],
    "gcraLimit burst": ["burst", (store, value) => store.gcraLimit("k", 60_000, value)],
    "gcraLimit count": ["count", (store, value) => store.gcraLimit("k", 60_000, 10, value)],
    "rateLimitCreate limit": ["limit", (store, value) => store.rateLimitCreate("new", value, 60_000)],
    "rateLimitCreate windowMs": ["windowMs", (store, value) => store.rateLimitCreate("new", 10, value)],
    "rateLimitCheck cost": ["cost", (store, value) => store.rateLimitCheck("lim", "k", { cost: value })],
  };
  for (const [name, [argument, call]] of Object.entries(calls)) {
    it(name, async () => {
      using engine = new Engine({ clock });
      const client = new HotKV({ clock });
      engine.rateLimitCreate("lim", 10, 60_000);
      await client.rateLimitCreate("lim", 10, 60_000);
      for (const value of notIntegers) {
        assert.throws(() => call(engine, value as never), refusal(argument, value));
        await assert.rejects(async () => call(client, value as never), refusal(argument, value));
      }
      for (const store of [engine, client]) {
        assert.equal((await store.gcraLimit("k", 60_000, 10)).remaining, 9);
        assert.equal((await store.rateLimitCheck("lim", "k")).remaining, 9);
        assert.deepEqual(await store.rateLimitList(), ["lim"]);
      }
      await client.close();
    });
  }

  it("gcraLimitMany spends nothing on any key", () => {
    using engine = new Engine({ clock });
    for (const value of notIntegers) {
      assert.throws(() => engine.gcraLimitMany(["k"], value as never, 10), refusal("period", value));
      assert.throws(() => engine.gcraLimitMany(["k"], 60_000, value as never), refusal("burst", value));
      assert.throws(() => engine.gcraLimitMany(["k"], 60_000, 10, value as never), refusal("count", value));
    }
    assert.equal(engine.gcraLimit("k", 60_000, 10).remaining, 9);
  });

  it("a limiter that could never be used is refused when it is made", () => {
    using engine = new Engine({ clock });
    for (const refill of [
      0,
      -1,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      "1e3",
      "",
      "abc",
      0.0000001,
      0.0000009,
      null,
      {},
    ]) {
      assert.throws(
        () => engine.rateLimitCreate("b", 10, 1000, { algo: "token_bucket", refill: refill as number }),
        refusal("refill", refill),
      );
    }
    assert.throws(() => engine.rateLimitCreate("b", 10, 1000, { algo: "nope" as "gcra" }), refusal("algo", "nope"));
    assert.deepEqual(engine.rateLimitList(), []);
  });

  it("options are refused when the engine or client is made", () => {
    for (const Store of [Engine, HotKV]) {
      assert.throws(() => new Store({ maxKeys: 0 }), refusal("maxKeys", 0));
      assert.throws(() => new Store({ maxLimiters: 1.5 }), refusal("maxLimiters", 1.5));
      assert.throws(() => new Store({ clock: 5 as never }), refusal("clock", 5));
    }
    assert.throws(() => new HotKV({ url: "nope:" }), refusal("url", "nope:"));
  });
});

describe("a wrong kind of argument is never taken for another", () => {
  it("a number, text or null where options are due", async () => {
    using engine = new Engine({ clock });
    const client = new HotKV({ clock });
    engine.rateLimitCreate("lim", 10, 60_000);
    await client.rateLimitCreate("lim", 10, 60_000);
    for (const wrong of [5, "cost", null, [5], true]) {
      const options = wrong as never;
      assert.throws(() => engine.rateLimitCheck("lim", "k", options), refusal("options", wrong));
      assert.throws(() => engine.rateLimitCreate("new", 1, 1, options), refusal("options", wrong));
      assert.throws(() => engine.set("k", "v", options), refusal("options", wrong));
      assert.throws(() => new Engine(options), refusal("options", wrong));
      assert.throws(() => new HotKV(options), refusal("options", wrong));
      await assert.rejects(client.rateLimitCheck("lim", "k", options), refusal("options", wrong));
    }
    assert.equal(engine.rateLimitCheck("lim", "k").remaining, 9);
    assert.equal((await client.rateLimitCheck("lim", "k")).remaining, 9);
    await client.close();
  });

  it("an option that is not known, which would be ignored", async () => {
    const client = new HotKV({ clock });
    const options = (given: object) => given as never;
    const wrong: Readonly<Record<string, (given: never) => unknown>> = {
      algorithm: (given) => client.rateLimitCreate("l", 1, 1000, given),
      ttl: (given) => client.set("k", "v", given),
      uri: (given) => new HotKV(given),
      // A Worker's budgets would be in each isolate, with the wrong import.
      binding: (given) => new HotKV(given),
      costs: (given) => client.rateLimitCheck("l", "k", given),
      maxkeys: (given) => new Engine(given),
      namespace: (given) => new NetworkClient(Object.assign(given, { url: "https://example.com" })),
      namspace: (given) => new WorkerClient(Object.assign(given, { binding: { idFromName() {} } })),
      file: (given) => openHost(given),
      pass: (given) => serve(openHost({}), given),
    };
    for (const [field, call] of Object.entries(wrong)) {
      await assert.rejects(async () => call(options({ [field]: "gcra" })), refusal(field, "gcra"), field);
    }
    assert.deepEqual([await client.rateLimitList(), await client.keys()], [[], []]);
  });

  it("an option of a Worker's client that is out of range", () => {
    const wrong: readonly (readonly [option: string, value: unknown])[] = [
      ["binding", {}],
      ["namespace", 5],
      ["placement", "key"],
      ["timeoutMs", 0],
      // A longer timer would fire at once.
      ["timeoutMs", 2 ** 31],
      ["denyCacheMs", -1],
      ["denyCacheMs", Number.NaN],
      ["onUnavailable", "ignore"],
    ];
    const options = { binding: { idFromName() {} }, timeoutMs: 2 ** 31 - 1, denyCacheMs: 0 };
    assert.ok(new WorkerClient(options as never));
    for (const [option, value] of wrong) {
      const given = { ...options, [option]: value } as never;
      assert.throws(() => new WorkerClient(given), refusal(option, value), `${option} ${value}`);
    }
  });

  it("a URL that is none", () => {
    for (const url of ["hotkv://127.0.0.1:99999", "https://", "redis://127.0.0.1:6379", "127.0.0.1:6379", ""]) {
      assert.throws(() => new HotKV({ url }), refusal("url", url), url);
    }
  });

  it("text where keys are due, and anything but bytes where bytes are", () => {
    using engine = new Engine({ clock });
    assert.throws(() => engine.gcraLimitMany("abc" as never, 1000, 10), refusal("keys", "abc"));
    for (const wrong of ["PING", [80], null, undefined, new ArrayBuffer(4)]) {
      assert.throws(() => engine.execute(wrong as never), refusal("bytes", wrong));
    }
    assert.throws(() => engine.openSession({ password: 5 as never }), refusal("password", 5));
    assert.equal(engine.dbSize(), 0);
  });
});

describe("a URL that is wrong", () => {
  it("is shown without its password", () => {
    for (const url of ["redis://:secret@127.0.0.1:6379", "redis://name:sec@ret@127.0.0.1/0"]) {
      assert.throws(() => new HotKV({ url }), /not "redis:\/\/…@127\.0\.0\.1/, url);
    }
  });
});

describe("F26: keys keep apart, whatever characters they hold", () => {
  const texts = [
    "a:b",
    "a",
    "b:c",
    "c",
    "",
    ":",
    "%",
    "{",
    "}",
    "{a}",
    "\n",
    "\0",
    "a\0b",
    "a\0",
    "\u0000\u0000",
    "%00",
    "é",
    "e\u0301",
    "\ufeff",
    "🌊",
    "*",
  ];

  it("each of them is a key of its own", () => {
    using engine = new Engine({ clock });
    for (const text of texts) assert.equal(engine.gcraLimit(text, 60_000, 10).remaining, 9, JSON.stringify(text));
    for (const text of texts) assert.equal(engine.gcraLimit(text, 60_000, 10).remaining, 8, JSON.stringify(text));
    assert.deepEqual(engine.keys().sort(), [...texts].sort());
  });

  it("a limiter's name and key never run together", () => {
    using engine = new Engine({ clock });
    for (const name of texts) engine.rateLimitCreate(name, 10, 60_000);
    for (const name of texts) {
      for (const key of texts) assert.equal(engine.rateLimitCheck(name, key).remaining, 9, JSON.stringify([name, key]));
    }
  });
});

describe("F27: names of Object.prototype are ordinary", () => {
  for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"]) {
    it(name, async () => {
      const client = new HotKV({ clock });
      assert.equal((await client.gcraLimit(name, 60_000, 10)).remaining, 9);
      assert.equal((await client.gcraLimit(name, 60_000, 10)).remaining, 8);
      await client.rateLimitCreate(name, 5, 1000);
      assert.equal((await client.rateLimitCheck(name, name)).remaining, 4);
      assert.equal((await client.rateLimitStats(name)).name, name);
      await client.close();
    });
  }
});

describe("F28: a reset is of one key, not of a pattern", () => {
  it("resetting user leaves user:admin, and * is a key", () => {
    using engine = new Engine({ clock });
    for (const key of ["user", "user:admin", "*"]) engine.gcraLimit(key, 60_000, 10);
    assert.equal(engine.gcraReset("user"), 1);
    assert.equal(engine.gcraReset("*"), 1);
    assert.equal(engine.gcraLimit("user:admin", 60_000, 10).remaining, 8);
  });
});

describe("F29: nothing is shared between limiters, or between two lives of one name", () => {
  it("two limiters with one key", () => {
    using engine = new Engine({ clock });
    engine.rateLimitCreate("a", 10, 1000);
    engine.rateLimitCreate("b", 10, 1000);
    engine.rateLimitCheck("a", "k", { cost: 10 });
    assert.equal(engine.rateLimitCheck("b", "k").remaining, 9);
  });

  it("a name that was dropped and made again", () => {
    using engine = new Engine({ clock });
    engine.rateLimitCreate("a", 10, 1000);
    engine.rateLimitCheck("a", "k", { cost: 10 });
    assert.throws(() => engine.rateLimitCreate("a", 20, 5000), { code: "ERR" });
    engine.rateLimitDrop("a");
    engine.rateLimitCreate("a", 20, 5000);
    assert.equal(engine.rateLimitCheck("a", "k").remaining, 19);
  });
});

describe("F30: text that could become other text is refused", () => {
  const lone = ["\ud800", "a\udfff", "\udc00\ud800", "abc\ud83c", "long enough to be packed \ud800 in words"];

  it("lone surrogates", async () => {
    using engine = new Engine({ clock });
    const client = new HotKV({ clock });
    engine.rateLimitCreate("lim", 10, 1000);
    for (const text of lone) {
      assert.throws(() => engine.gcraLimit(text, 1000, 10), refusal("key", text));
      assert.throws(() => engine.rateLimitCheck("lim", text), refusal("key", text));
      assert.throws(() => engine.rateLimitCheck(text, "k"), refusal("name", text));
      assert.throws(() => engine.gcraLimitMany(["a", text], 1000, 10), { code: "INVALID_ARGUMENT" });
      assert.throws(() => engine.rateLimitCreate(text, 10, 1000), refusal("name", text));
      assert.throws(() => engine.get(text), refusal("key", text));
      assert.throws(() => engine.command("GET", text), { code: "INVALID_ARGUMENT" });
      await assert.rejects(client.gcraLimit(text, 1000, 10), refusal("key", text));
    }
    assert.equal(engine.dbSize(), 0);
    await client.close();
  });

  it("halves of a character in keys that follow each other in a batch, wherever they are", () => {
    using engine = new Engine({ clock });
    for (const before of [0, 511, 1300]) {
      const keys = [...Array.from({ length: before }, (_, index) => `key:${index}`), "a\ud83c", "\udf0ab", "last"];
      assert.throws(() => engine.gcraLimitMany(keys, 60_000, 10), refusal(`keys[${before}]`, "a\ud83c"));
      assert.throws(
        () => engine.gcraLimitMany(keys.toSpliced(before, 1), 60_000, 10),
        refusal(`keys[${before}]`, "\udf0ab"),
      );
    }
    assert.equal(engine.dbSize(), 0);
  });

  it("4,096 bytes are a key, 4,097 are not, in any script", () => {
    using engine = new Engine({ clock });
    const fits = ["x".repeat(4096), "é".repeat(2048), "水".repeat(1365), "🌊".repeat(1024)];
    for (const key of fits) {
      assert.equal(engine.gcraLimit(key, 60_000, 10).remaining, 9);
      assert.throws(() => engine.gcraLimit(`${key}xx`, 60_000, 10), { code: "INVALID_ARGUMENT", argument: "key" });
      assert.throws(() => engine.get(`${key}xx`), { code: "INVALID_ARGUMENT", argument: "key" });
      assert.throws(() => engine.gcraLimitMany([`${key}xx`], 60_000, 10), { code: "INVALID_ARGUMENT" });
      assert.throws(() => engine.rateLimitCheck(`${key}xx`, "k"), { code: "INVALID_ARGUMENT", argument: "name" });
      assert.equal(engine.gcraLimit(key, 60_000, 10).remaining, 8);
    }
  });

  it("what is no text is no key", () => {
    using engine = new Engine({ clock });
    for (const value of notNames) {
      assert.throws(() => engine.gcraLimit(value as string, 1000, 10), refusal("key", value));
      assert.throws(() => engine.rateLimitCheck(value as string, "k"), refusal("name", value));
      assert.throws(() => engine.gcraReset(value as string), refusal("key", value));
    }
    assert.throws(() => engine.gcraReset(), { code: "INVALID_ARGUMENT", argument: "keys" });
  });
});

describe("what is wrong with a store elsewhere is found when its client is made", () => {
  const wrong: readonly (readonly [object, string])[] = [
    [{ url: "file:///limits%zz.db" }, "url"],
    ...[0, -1, 1.5, Number.NaN, 2 ** 31, "5", null].map((timeoutMs) => [{ timeoutMs }, "timeoutMs"] as const),
    [{ token: 5 }, "token"],
    [{ url: "hotkv://127.0.0.1", password: 5 }, "password"],
  ];
  for (const [options, argument] of wrong) {
    it(`${JSON.stringify(options)} names ${argument}`, () => {
      assert.throws(() => new HotKV({ url: "https://limits.example.com", ...options }), {
        code: "INVALID_ARGUMENT",
        argument,
      });
    });
  }
});
