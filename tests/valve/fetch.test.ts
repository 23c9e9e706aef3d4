import assert from "node:assert/strict";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { HotKV, type Rate, Valve, type ValveEvents, type ValveOptions } from "tidegate";
import { parseRateLimit } from "tidegate/fetch";
import { VirtualTime } from "./virtual.ts";

/** What a provider answers to one request; the last answer stands for all that follow. */
interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Does not answer before this resolves. */
  readonly after?: Promise<unknown>;
  /** Sends the head and this much of the body, and nothing more. */
  readonly begin?: string;
}

/** A provider on loopback, a valve before it whose time a test moves, and what arrived when. */
async function provider<const R extends Rate>(rate: ValveOptions<R>["rate"], ...answers: readonly Answer[]) {
  const time = new VirtualTime();
  const arrivals: { readonly at: number; readonly path: string; readonly method: string; readonly body: string }[] = [];
  let closedEarly = 0;
  const server = createServer(async (request, response) => {
    const { url = "", method = "" } = request;
    const body = await text(request);
    const { status = 200, headers = {}, after, begin } = answers[Math.min(arrivals.length, answers.length - 1)] ?? {};
    arrivals.push({ at: time.now(), path: url, method, body });
    response.on("close", () => {
      if (!response.writableFinished) closedEarly++;
    });
    await after;
    response.writeHead(status, headers);
    if (begin === undefined) response.end(`answer ${arrivals.length}`);
    else response.write(begin);
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const valve = new Valve<R>({ store: new HotKV({ clock: time.clock }), namespace: "api", rate, timers: time });
  const pushed: ValveEvents["pushedBack"][] = [];
  valve.on("pushedBack", (event) => pushed.push(event));
  return {
    time,
    valve,
    arrivals,
    pushed,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    closedEarly: () => closedEarly,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function text(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  return body;
}

/** Waits for what happens on real sockets, for which there is no virtual time. */
async function until(condition: () => boolean): Promise<void> {
  for (const end = Date.now() + 4_000; !condition(); ) {
    assert.ok(Date.now() < end, "it did not happen");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** One unit a second. */
const SLOW = { limit: 1, interval: "1s" } as const;
/** So much that nothing of ours ever waits. */
const OPEN = { limit: 1000, interval: "1s", burst: 1000 } as const;

describe("valve.fetch", () => {
  it("sends requests in their turn, and returns what the server answers", async () => {
    await using api = await provider(SLOW, {});
    const { valve, time, arrivals, url } = api;
    const all = ["/1", "/2", "/3"].map((path) => valve.fetch(url + path));
    await until(() => arrivals.length === 1 && time.timers === 1);
    await time.advance(999);
    assert.equal(arrivals.length, 1);
    await time.advance(1);
    await until(() => arrivals.length === 2 && time.timers === 1);
    await time.advance(1000);
    const responses = await Promise.all(all);
    assert.deepEqual(
      arrivals.map(({ at, path }) => [at, path]),
      [
        [0, "/1"],
        [1000, "/2"],
        [2000, "/3"],
      ],
    );
    assert.equal(await responses[0]?.text(), "answer 1");
  });

  for (const status of [429, 503]) {
    it(`sends a ${status} again at the time of Retry-After, and not before`, async () => {
      await using api = await provider(OPEN, { status, headers: { "Retry-After": "7" } }, {});
      const { valve, time, arrivals, pushed, url } = api;
      const response = valve.fetch(url, { method: "POST", body: "payload" });
      await until(() => time.timers === 1);
      await time.advance(6999);
      assert.equal(arrivals.length, 1);
      await time.advance(1);
      assert.equal((await response).status, 200);
      assert.deepEqual(
        arrivals.map(({ at, method, body }) => [at, method, body]),
        [
          [0, "POST", "payload"],
          [7000, "POST", "payload"],
        ],
      );
      assert.deepEqual(pushed, [{ status, retryAfterMs: 7000 }]);
    });
  }

  it("counts a date in Retry-After by the server's clock, which may be hours off ours", async () => {
    const headers = { Date: "Mon, 01 Dec 2025 00:00:00 GMT", "Retry-After": "Mon, 01 Dec 2025 00:00:05 GMT" };
    await using api = await provider(OPEN, { status: 503, headers }, {});
    const { valve, time, arrivals, url } = api;
    const response = valve.fetch(url);
    await until(() => time.timers === 1);
    assert.equal(time.next, 5000);
    await time.drain();
    await response;
    assert.deepEqual(
      arrivals.map(({ at }) => at),
      [0, 5000],
    );
  });

  it("takes the longest of RateLimit's used up quotas and Retry-After", async () => {
    const headers = { RateLimit: '"burst";r=0;t=3,"daily";r=0;t=60,"monthly";r=5;t=9999', "Retry-After": "2" };
    await using api = await provider(OPEN, { status: 429, headers }, {});
    const { valve, time, url } = api;
    const response = valve.fetch(url);
    await until(() => time.timers === 1);
    assert.equal(time.next, 60_000);
    await time.drain();
    assert.equal((await response).status, 200);
  });

  it("doubles its wait from one second where the server says nothing, and gives the last answer after 3 retries", async () => {
    await using api = await provider(OPEN, { status: 429 });
    const { valve, time, arrivals, pushed, url } = api;
    const response = valve.fetch(url);
    for (const wait of [1000, 2000, 4000]) {
      await until(() => time.timers === 1);
      assert.equal(time.next, wait);
      await time.advance(wait);
    }
    assert.equal((await response).status, 429);
    assert.equal(await (await response).text(), "answer 4");
    assert.deepEqual(
      arrivals.map(({ at }) => at),
      [0, 1000, 3000, 7000],
    );
    assert.deepEqual(pushed.at(-1), { status: 429, retryAfterMs: 8000, stopped: "retries" });
  });

  for (const headers of [{ RateLimit: '"minute";r=0' }, { "Retry-After": "1.5" }, { "Retry-After": "5, 6" }]) {
    it(`so it does where what the server says tells no time: ${JSON.stringify(headers)}`, async () => {
      await using api = await provider(OPEN, { status: 429, headers }, {});
      const { valve, time, url } = api;
      const response = valve.fetch(url);
      await until(() => time.timers === 1);
      assert.equal(time.next, 1000);
      await time.advance(1000);
      assert.equal((await response).status, 200);
    });
  }

  it("sends nothing again with retries: 0, nor any other status", async () => {
    await using api = await provider(OPEN, { status: 429, headers: { "Retry-After": "0" } }, { status: 500 });
    const { valve, arrivals, url } = api;
    assert.equal((await valve.fetch(url, { retries: 0 })).status, 429);
    assert.equal((await valve.fetch(url)).status, 500);
    assert.equal(arrivals.length, 2);
    for (const retries of [-1, 1.5, Number.NaN]) {
      await assert.rejects(valve.fetch(url, { retries }), { code: "INVALID_OPTIONS", field: "retries" });
    }
  });

  it("does not send a stream twice, and says so", async () => {
    await using api = await provider(OPEN, { status: 429, headers: { "Retry-After": "1" } });
    const { valve, time, arrivals, pushed, url } = api;
    const init = { method: "POST", body: new Blob(["streamed"]).stream(), duplex: "half" } as const;
    assert.equal((await valve.fetch(url, init)).status, 429);
    // A request's body is a stream too, whatever it was made from.
    const second = valve.fetch(new Request(url, { method: "POST", body: "text" }));
    await until(() => time.timers === 1);
    await time.advance(1000);
    assert.equal((await second).status, 429);
    assert.deepEqual(
      arrivals.map(({ at, body }) => [at, body]),
      [
        [0, "streamed"],
        [1000, "text"],
      ],
    );
    const event = { status: 429, retryAfterMs: 1000, stopped: "body" };
    assert.deepEqual(pushed, [event, event]);
  });

  it("sends text, bytes, forms and requests without a body again", async () => {
    const again = [{ status: 429, headers: { "Retry-After": "1" } }, {}];
    const form = new FormData();
    form.set("field", "value");
    for (const [input, init, body] of [
      ["", { method: "PUT", body: new TextEncoder().encode("bytes") }, /^bytes$/],
      ["", { method: "POST", body: new Blob(["blob"]) }, /^blob$/],
      ["", { method: "POST", body: new URLSearchParams({ a: "1" }) }, /^a=1$/],
      ["", { method: "POST", body: form }, /value/],
      ["request", {}, /^$/],
    ] as const) {
      await using api = await provider(OPEN, ...again);
      const { valve, time, arrivals, url } = api;
      const response = valve.fetch(input === "request" ? new Request(url) : url, init);
      await until(() => time.timers === 1);
      await time.advance(1000);
      assert.equal((await response).status, 200);
      assert.equal(arrivals.length, 2);
      for (const arrival of arrivals) assert.match(arrival.body, body);
    }
  });

  it("waits no longer than maxWaitMs in all", async () => {
    await using api = await provider(OPEN, { status: 429, headers: { "Retry-After": "3" } });
    const { valve, time, arrivals, pushed, url } = api;
    const response = valve.fetch(url, { maxWaitMs: 5000 });
    await until(() => time.timers === 1);
    await time.advance(3000);
    // Three of its five seconds are gone, and the server asks for three more.
    assert.equal((await response).status, 429);
    assert.deepEqual(
      pushed.map(({ stopped }) => stopped),
      [undefined, "maxWaitMs"],
    );
    assert.equal(arrivals.length, 2);
    const late = assert.rejects(valve.fetch(url, { maxWaitMs: 10 }), { code: "TIMEOUT" });
    await until(() => time.timers === 1);
    await time.advance(10);
    await late;
  });

  it("spends each attempt's cost", async () => {
    const rate = { limit: 5, interval: "10s", algorithm: "fixed-window" } as const;
    await using api = await provider(rate, { status: 429, headers: { "Retry-After": "1" } }, {});
    const { valve, time, arrivals, url } = api;
    const response = valve.fetch(url, { cost: 3 });
    await until(() => time.timers === 1);
    // 5 - 3 are not enough for the retry, so it starts with the next window and not at the server's time.
    await time.drain();
    assert.equal((await response).status, 200);
    assert.deepEqual(
      arrivals.map(({ at }) => at),
      [0, 10_000],
    );
    await assert.rejects(valve.fetch(url, { cost: 6 }), { code: "COST_EXCEEDS_LIMIT" });
  });
});

describe("jobs behind a valve.fetch", () => {
  it("start no earlier than the server asked; a retry goes before all that came later, but takes nobody's turn", async () => {
    await using api = await provider(SLOW, { status: 429, headers: { "Retry-After": "30" } }, {});
    const { valve, time, arrivals, url } = api;
    const all = ["/first", "/second", "/third"].map((path) => valve.fetch(url + path));
    await until(() => arrivals.length === 1);
    const started: number[] = [];
    const job = valve.run(() => void started.push(time.now()));
    await until(() => time.next === 30_000);
    await time.advance(29_999);
    assert.equal(arrivals.length, 1);
    await time.advance(1);
    for (const count of [3, 4]) {
      await until(() => arrivals.length === count - 1);
      await time.advance(1000);
      await until(() => arrivals.length === count);
    }
    await time.advance(1000);
    await Promise.all([...all, job]);
    // The second was refused at its turn while the first was answered, so the turn is its.
    assert.deepEqual(
      arrivals.map(({ at, path }) => [at, path]),
      [
        [0, "/first"],
        [30_000, "/second"],
        [31_000, "/first"],
        [32_000, "/third"],
      ],
    );
    assert.deepEqual(started, [33_000]);
  });

  it("slow down when an answer says that nothing is left, whatever its status", async () => {
    await using api = await provider(OPEN, { headers: { RateLimit: '"burst";r=0;t=12' } }, {});
    const { valve, time, arrivals, url } = api;
    assert.equal((await valve.fetch(url)).status, 200);
    assert.deepEqual(await valve.admit(), { allowed: false, retryAfterMs: 12_000, blockedBy: [] });
    const later = valve.fetch(url);
    await until(() => time.timers === 1);
    assert.equal(time.next, 12_000);
    await time.drain();
    await later;
    assert.deepEqual(
      arrivals.map(({ at }) => at),
      [0, 12_000],
    );
    assert.equal((await valve.admit()).allowed, true);
  });

  it("of other identities go on", async () => {
    const rate = { ...OPEN, name: "tenant", scope: "tenant" } as const;
    await using api = await provider(rate, { status: 429, headers: { "Retry-After": "30" } }, {});
    const { valve, time, arrivals, url } = api;
    const a = valve.fetch(`${url}/a`, { scope: { tenant: "a" } });
    await until(() => time.timers === 1);
    assert.equal((await valve.fetch(`${url}/b`, { scope: { tenant: "b" } })).status, 200);
    await time.drain();
    await a;
    assert.deepEqual(
      arrivals.map(({ at, path }) => [at, path]),
      [
        [0, "/a"],
        [0, "/b"],
        [30_000, "/a"],
      ],
    );
  });

  it("of a higher priority go first", async () => {
    await using api = await provider(SLOW, {});
    const { valve, time, arrivals, url } = api;
    await valve.fetch(`${url}/first`);
    const all = [valve.fetch(`${url}/low`), valve.fetch(`${url}/high`, { priority: 1 })];
    await time.settle();
    for (let at = 2; at <= 3; at++) {
      await time.advance(1000);
      await until(() => arrivals.length === at);
    }
    await Promise.all(all);
    assert.deepEqual(
      arrivals.map(({ path }) => path),
      ["/first", "/high", "/low"],
    );
  });
});

describe("an abort rejects with the signal's reason", () => {
  const reason = new Error("enough");

  it("before the request has its turn", async () => {
    await using api = await provider(SLOW, {});
    const { valve, time, arrivals, url } = api;
    await assert.rejects(valve.fetch(url, { signal: AbortSignal.abort(reason) }), reason);
    await valve.fetch(url);
    const stop = new AbortController();
    const waits = valve.fetch(url, { signal: stop.signal });
    await until(() => time.timers === 1);
    stop.abort(reason);
    await assert.rejects(waits, reason);
    await time.settle();
    assert.deepEqual([arrivals.length, time.timers, valve.stats().waiting], [1, 0, 0]);
  });

  it("while the server is silent", async () => {
    await using api = await provider(OPEN, { after: new Promise(() => {}) });
    const { valve, arrivals, closedEarly, url } = api;
    const stop = new AbortController();
    const waits = valve.fetch(url, { signal: stop.signal });
    await until(() => arrivals.length === 1);
    stop.abort(reason);
    await assert.rejects(waits, reason);
    await until(() => closedEarly() === 1);
    assert.equal(valve.stats().running, 0);
  });

  it("while the server's time is waited for", async () => {
    await using api = await provider(OPEN, { status: 429, headers: { "Retry-After": "60" } });
    const { valve, time, arrivals, url } = api;
    const stop = new AbortController();
    const waits = valve.fetch(new Request(url, { signal: stop.signal }));
    await until(() => time.timers === 1);
    stop.abort(reason);
    await assert.rejects(waits, reason);
    await time.drain();
    assert.equal(arrivals.length, 1);
  });

  it("while the body is read", async () => {
    await using api = await provider(OPEN, { begin: "half of" });
    const { valve, closedEarly, url } = api;
    const stop = new AbortController();
    const response = await valve.fetch(url, { signal: stop.signal });
    const body = response.text();
    stop.abort(reason);
    await assert.rejects(body, reason);
    await until(() => closedEarly() === 1);
  });
});

describe("valve.pause", () => {
  it("lets any client of HTTP hand on what a response asks for; a longer pause stays", async () => {
    await using api = await provider(OPEN, {});
    const { valve, time } = api;
    const response = new Response(null, { headers: { "Retry-After": "9" } });
    valve.pause(parseRateLimit(response).retryAfterMs ?? 0);
    valve.pause(1000);
    const started: number[] = [];
    const job = valve.run(() => void started.push(time.now()));
    await time.drain();
    await job;
    assert.deepEqual(started, [9000]);
    for (const ms of [-1, Number.NaN, "1"]) {
      assert.throws(() => valve.pause(ms as number), { code: "INVALID_OPTIONS", field: "ms" });
    }
  });

  it("of a job that waits already holds it back, and its timeout still comes", async () => {
    await using api = await provider(SLOW, {});
    const { valve, time } = api;
    await valve.run(() => {});
    const waits = valve.run(() => {}, { maxWaitMs: 5000 });
    await time.settle();
    valve.pause(3_000_000_000_000);
    await time.advance(4999);
    const rejected = assert.rejects(waits, { code: "TIMEOUT" });
    await time.advance(1);
    await rejected;
  });
});
