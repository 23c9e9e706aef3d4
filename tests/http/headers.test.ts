import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseList } from "structured-headers";
import { HotKV } from "tidegate";
import { addressKey, parseRateLimit, rateLimit } from "tidegate/fetch";
import { clientKey } from "../../pkg/dist/http/client.js";
import { formatPolicies, formatStates, seconds } from "../../pkg/dist/http/headers.js";

describe("F23: Retry-After is whole seconds, rounded up", () => {
  it("whatever the wait", () => {
    for (const [ms, expected] of [
      [0, 0],
      [1, 1],
      [900, 1],
      [1000, 1],
      [1001, 2],
      [86_399_999, 86_400],
    ] as const) {
      assert.equal(seconds(ms), expected);
    }
  });

  it("is the remaining time, not the window's length", async () => {
    let now = 1_764_547_200_000;
    const handler = rateLimit(() => new Response(), {
      store: new HotKV({ clock: () => now }),
      policies: { name: "one", limit: 1, windowMs: 60_000 },
      key: () => "k",
    });
    const ask = () => handler(new Request("https://example.com"));
    await ask();
    now += 59_100;
    assert.equal((await ask()).headers.get("Retry-After"), "1");
    now += 900;
    assert.equal((await ask()).status, 200);
  });
});

describe("F24: no policy's name breaks a header", () => {
  it("quotes and backslashes are escaped, and parse back", () => {
    const name = 'a"b\\c';
    assert.equal(parseList(formatPolicies([{ name, quota: 1 }]))[0]?.[0], name);
  });

  it("what can't be escaped is refused when the policy is made", () => {
    for (const name of ["ключ", "a\r\nSet-Cookie: x", "😀", "", "a\0"]) {
      const make = () =>
        rateLimit(() => new Response(), {
          store: new HotKV(),
          policies: { name, limit: 1, windowMs: 1 },
          key: () => "k",
        });
      assert.throws(make, { code: "INVALID_ARGUMENT", argument: "policies[0].name" }, JSON.stringify(name));
    }
  });
});

describe("F25: every number in a field is one that fields hold", () => {
  it("a reset of 0 is still there", () => {
    assert.equal(formatStates([{ name: "a", remaining: 5, resetSeconds: 0 }]), '"a";r=5;t=0');
  });

  it("a quota past 15 digits is cut to them", () => {
    assert.equal(formatPolicies([{ name: "a", quota: Number.MAX_SAFE_INTEGER }]), '"a";q=999999999999999');
  });

  it("a window of no whole seconds is left out, and fractions are refused", async () => {
    const make = (limit: number, windowMs: number) =>
      rateLimit(() => new Response(), { store: new HotKV(), policies: { name: "a", limit, windowMs }, key: () => "k" });
    const response = await make(5, 1500)(new Request("https://example.com"));
    assert.equal(response.headers.get("RateLimit-Policy"), '"a";q=5');
    for (const [limit, windowMs] of [
      [0, 1],
      [1.5, 1],
      [Number.POSITIVE_INFINITY, 1],
      [1, 0],
      [1, Number.NaN],
    ] as const) {
      assert.throws(() => make(limit, windowMs), { code: "INVALID_ARGUMENT" });
    }
  });
});

describe("F31: one client, one key", () => {
  it("an IPv4 address mapped into IPv6 is the bare one", () => {
    for (const text of ["1.2.3.4", "::ffff:1.2.3.4", "::FFFF:102:304", "0:0:0:0:0:ffff:1.2.3.4"]) {
      assert.equal(addressKey(text), "1.2.3.4", text);
    }
  });

  it("IPv6 goes by the /64, or the prefix that is asked for", () => {
    assert.equal(addressKey("2001:db8::1"), addressKey("2001:0DB8:0:0:ffff::2"));
    assert.notEqual(addressKey("2001:db8::1"), addressKey("2001:db8:0:1::1"));
    assert.equal(addressKey("2001:db8:0:1::1", 48), addressKey("2001:db8::1", 48));
    assert.notEqual(addressKey("2001:db8::1", 128), addressKey("2001:db8::2", 128));
    assert.equal(addressKey("fe80::1%eth0"), "fe80:0:0:0::/64");
  });

  it("what is no address is refused", () => {
    for (const text of [
      "",
      "1.2.3",
      "1.2.3.256",
      "01.2.3.4",
      "1::2::3",
      "1:2:3:4:5:6:7",
      ":",
      "g::1",
      "unknown",
      "1.2.3.4:80",
    ]) {
      assert.throws(() => addressKey(text), { code: "INVALID_ARGUMENT" }, text);
    }
  });

  it("a forwarded header is believed from a named proxy alone, and never as raw text", () => {
    const forwarded = (list: string) => (name: string) => (name === "X-Forwarded-For" ? list : null);
    const open = clientKey({});
    assert.equal(open("10.0.0.1", forwarded("6.6.6.6")), "10.0.0.1");
    const behind = clientKey({ proxies: ["10.0.0.0/8", "::1"] });
    assert.equal(behind("10.0.0.1", forwarded("6.6.6.6")), "6.6.6.6");
    // The client wrote the first entry itself; the proxies the others.
    assert.equal(behind("10.0.0.1", forwarded("1.1.1.1, 6.6.6.6, 10.9.9.9")), "6.6.6.6");
    assert.equal(behind("10.0.0.1", forwarded("<script>")), "10.0.0.1");
    assert.equal(behind("9.9.9.9", forwarded("6.6.6.6")), "9.9.9.9");
    // Some proxies write the client's port as well.
    assert.equal(behind("10.0.0.1", forwarded("1.1.1.1, 6.6.6.6:51234, 10.9.9.9:80")), "6.6.6.6");
    for (const entry of ["2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:443"]) {
      assert.equal(behind("::1", forwarded(entry)), "2001:db8:0:0::/64", entry);
    }
    assert.equal(behind("10.0.0.1", forwarded("[<script>]:1")), "10.0.0.1");
    assert.throws(() => clientKey({ proxies: ["10.0.0.0/33"] }), { code: "INVALID_ARGUMENT" });
  });
});

describe("parseRateLimit", () => {
  const parse = (headers: Record<string, string>) => parseRateLimit(new Response(null, { headers }), 1_764_547_200_000);

  it("reads what the middleware writes", () => {
    assert.deepEqual(
      parse({ "RateLimit-Policy": '"burst";q=100;w=60,"daily";q=1000;w=86400', RateLimit: '"burst";r=50;t=30' }),
      {
        policies: [
          { name: "burst", quota: 100, windowSeconds: 60 },
          { name: "daily", quota: 1000, windowSeconds: 86_400 },
        ],
        states: [{ name: "burst", remaining: 50, resetSeconds: 30 }],
      },
    );
  });

  it("reads Retry-After as seconds and as a date", () => {
    assert.equal(parse({ "Retry-After": "120" }).retryAfterMs, 120_000);
    // All three forms of HTTP, each in GMT wherever the program runs.
    for (const [zone, date] of [
      ["UTC", "Mon, 01 Dec 2025 00:01:00 GMT"],
      ["America/New_York", "Monday, 01-Dec-25 00:01:00 GMT"],
      ["Asia/Tokyo", "Mon Dec  1 00:01:00 2025"],
    ] as const) {
      const { TZ } = process.env;
      process.env["TZ"] = zone;
      assert.equal(parse({ "Retry-After": date }).retryAfterMs, 60_000, date);
      if (TZ === undefined) delete process.env["TZ"];
      else process.env["TZ"] = TZ;
    }
    assert.equal(parse({ "Retry-After": "Sun, 30 Nov 2025 00:00:00 GMT" }).retryAfterMs, 0);
  });

  it("takes what does not parse as absent", () => {
    assert.deepEqual(parse({ RateLimit: '"a;r=1', "RateLimit-Policy": "burst=1", "Retry-After": "soon" }), {
      policies: [],
      states: [],
    });
    for (const field of ["1.5", "-5", "5, 6", "", "0x10", "wait 5", "May 1"]) {
      assert.equal(parse({ "Retry-After": field }).retryAfterMs, undefined, field);
    }
  });
});

describe("options of the middleware", () => {
  const policies = { name: "burst", limit: 10, windowMs: 60_000 };
  const ask = (options: object, address = "2001:db8::1", headers = {}) =>
    rateLimit((_: Request, _beside: object) => new Response(), { store: new HotKV(), policies, ...options })(
      new Request("https://example.com", { headers }),
      { remoteAddr: { hostname: address } },
    );

  it("are refused when it is made, by their names", () => {
    for (const [argument, value] of [
      ...[0, 129, 1.5, -1, Number.NaN, "56", null].map((bits) => ["ipv6Prefix", bits] as const),
      ["proxies", "10.0.0.0/8"],
      ["store", undefined],
      ["store", null],
      ["store", {}],
      ["policies", undefined],
      ["policies", []],
      ["key", "user"],
      ["cost", 5],
      ["skip", true],
      // What express-rate-limit calls it would be ignored, and the address be the key.
      ["keyGenerator", () => "key"],
    ] as const) {
      assert.throws(() => ask({ [argument]: value }), { code: "INVALID_ARGUMENT", argument }, `${argument} ${value}`);
    }
    for (const proxy of ["10.0.0.0/", "10.0.0.0/ 8", "10.0.0.0/8/9", "10.0.0.0/1e1", "10.0.0.0/33", "", 5, null]) {
      assert.throws(
        () => ask({ proxies: [proxy] }),
        { code: "INVALID_ARGUMENT", argument: "proxies[0]" },
        String(proxy),
      );
    }
    for (const algorithm of ["nothing", "sliding-window"]) {
      assert.throws(() => ask({ policies: { ...policies, algorithm } }), { argument: "policies[0].algorithm" });
    }
    assert.throws(() => ask({ policies: { ...policies, algo: "gcra" } }), { argument: "policies[0].algo" });
    for (const policy of [undefined, "10/m"]) {
      assert.throws(() => ask({ policies: [policy] }), { argument: "policies[0]" });
    }
    assert.throws(() => addressKey("::1", 129), { code: "INVALID_ARGUMENT", argument: "prefix" });
  });

  it("that give no key or no cost spend nobody's budget", async () => {
    for (const key of [undefined, null, 5]) {
      await assert.rejects(ask({ key: () => key }), { code: "INVALID_ARGUMENT", argument: "key(request)" });
    }
    for (const cost of [null, 0, "1", Number.NaN]) {
      await assert.rejects(ask({ cost: () => cost }), { code: "INVALID_ARGUMENT", argument: "cost(request)" });
    }
    assert.equal((await ask({ key: () => "k", cost: () => 10 })).status, 200);
  });

  it("that fail together fail one request, and leave no error behind that nobody caught", async () => {
    const uncaught: unknown[] = [];
    const listener = (error: unknown) => void uncaught.push(error);
    process.on("unhandledRejection", listener);
    const late = async (text: string) => {
      await new Promise((resolve) => setTimeout(resolve, 2));
      throw new Error(text);
    };
    const early = async (text: string) => {
      throw new Error(text);
    };
    for (const [key, cost] of [
      [late, early],
      [early, late],
      [
        late,
        () => {
          throw new Error("cost");
        },
      ],
    ] as const) {
      await assert.rejects(ask({ key: () => key("key"), cost: () => cost("cost") }), /key|cost/);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
    process.off("unhandledRejection", listener);
    assert.deepEqual(uncaught, []);
  });

  it("F25: print no number that is not known, when the client decides without its store", async () => {
    for (const algorithm of ["gcra", "sliding_window"]) {
      for (const [onUnavailable, status] of [
        ["allow", 200],
        ["deny", 503],
      ] as const) {
        const store = new HotKV({ url: "hotkv://127.0.0.1:1", onUnavailable });
        const response = await ask({ store, policies: { ...policies, algorithm }, legacyHeaders: true });
        assert.equal(response.status, status);
        assert.deepEqual(
          [...response.headers.keys()].filter((name) => name.includes("ratelimit")),
          [],
        );
        await store.close();
      }
    }
  });

  it("tell in legacy headers of the policy that refuses, whatever is left of others", async () => {
    const two = [
      { name: "second", limit: 10, windowMs: 1000 },
      { name: "minute", limit: 9, windowMs: 60_000, algorithm: "sliding_window" },
    ];
    const store = new HotKV();
    const five = { store, policies: two, cost: () => 5, legacyHeaders: true };
    await ask(five);
    const { headers } = await ask(five);
    const [limit, remaining, reset] = ["Limit", "Remaining", "Reset"].map((name) => headers.get(`X-RateLimit-${name}`));
    assert.deepEqual([limit, remaining, reset], ["9", "4", headers.get("Retry-After")]);
  });

  it("leave a response alone that can't be made anew, as one that upgrades to a WebSocket", async () => {
    const upgrade = Object.create(Response.prototype, { status: { value: 101 } }) as Response;
    const handler = rateLimit(() => upgrade, { store: new HotKV(), policies, key: () => "k" });
    assert.equal(await handler(new Request("https://example.com")), upgrade);
  });
});
