import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { after, before, describe, it } from "node:test";
import { createClient } from "@redis/client";
import { Redis } from "ioredis";
import { HotKV, HotKVError } from "tidegate";
import { type Running, startServer } from "./server.ts";

/** What the documents show after `GCRA.LIMIT api:user:42 60000 10`, to the character. */
const FIRST = "1) (integer) 0\n2) (integer) 10\n3) (integer) 9\n4) (integer) -1\n5) (integer) 6000\n";

describe("Redis' own clients use the server as the documents show", () => {
  let server: Running;
  before(async () => {
    server = await startServer();
  });
  after(() => server.stop());

  const cli = (...args: string[]) => {
    return execFileSync("redis-cli", ["--no-raw", "-p", String(server.port), ...args], { encoding: "utf8" });
  };

  it("redis-cli: GCRA.LIMIT, eleven times", () => {
    assert.equal(cli("GCRA.LIMIT", "api:user:42", "60000", "10"), FIRST);
    for (let call = 2; call <= 10; call++) cli("GCRA.LIMIT", "api:user:42", "60000", "10");
    const [denied, limit, remaining, retry, reset] = cli("GCRA.LIMIT", "api:user:42", "60000", "10").split("\n");
    assert.deepEqual([denied, limit, remaining], ["1) (integer) 1", "2) (integer) 10", "3) (integer) 0"]);
    // The calls took some milliseconds, each of which brought the wait down by one.
    const wait = Number(retry?.replace("4) (integer) ", ""));
    assert.ok(wait > 5000 && wait <= 6000, retry);
    assert.equal(Number(reset?.replace("5) (integer) ", "")), wait + 54_000);
  });

  it("redis-cli: RATELIMIT.CREATE, CHECK and STATS", () => {
    assert.equal(cli("RATELIMIT.CREATE", "api", "100", "60000"), "OK\n");
    const check = (...rest: string[]) => cli("RATELIMIT.CHECK", "api", "user:42", ...rest);
    assert.equal(check(), "1) (integer) 1\n2) (integer) 99\n3) (integer) 0\n4) (integer) 100\n5) (integer) 0\n");
    assert.equal(
      check("COST", "5"),
      "1) (integer) 1\n2) (integer) 94\n3) (integer) 0\n4) (integer) 100\n5) (integer) 1\n",
    );
    assert.equal(
      cli("RATELIMIT.STATS", "api"),
      [
        ' 1) "name"',
        ' 2) "api"',
        ' 3) "algo"',
        ' 4) "sliding_window"',
        ' 5) "limit"',
        " 6) (integer) 100",
        ' 7) "window_ms"',
        " 8) (integer) 60000",
        ' 9) "unique_keys"',
        "10) (integer) 1",
        '11) "total_allowed"',
        "12) (integer) 6",
        '13) "total_denied"',
        "14) (integer) 0\n",
      ].join("\n"),
    );
    assert.match(cli("RATELIMIT.CREATE", "api", "1", "1"), /^\(error\) ERR limiter already exists or limit reached\n/);
  });

  it("@redis/client, over RESP2 and RESP3", async () => {
    for (const RESP of [2, 3] as const) {
      const client = createClient({ url: `redis://127.0.0.1:${server.port}`, RESP });
      await client.connect();
      const key = `node-redis:${RESP}`;
      assert.deepEqual(await client.sendCommand(["GCRA.LIMIT", key, "60000", "10"]), [0, 10, 9, -1, 6000]);
      assert.equal(await client.set("text", "value", { expiration: { type: "PX", value: 60_000 } }), "OK");
      assert.equal(await client.get("text"), "value");
      assert.ok((await client.pTTL("text")) > 59_000);
      assert.equal(await client.exists(["text", key, "missing"]), 2);
      const [first, second] = await client.multi().addCommand(["GCRA.RESET", key]).get("text").exec();
      assert.deepEqual([Number(first), second], [1, "value"]);
      await assert.rejects(client.sendCommand(["GCRA.LIMIT", "text", "1", "1"]), /^\w*Error: WRONGTYPE /);
      client.destroy();
    }
  });

  it("ioredis, pipelined", async () => {
    const client = new Redis(server.port, "127.0.0.1", { lazyConnect: true });
    await client.connect();
    assert.deepEqual(await client.call("GCRA.LIMIT", "ioredis", "60000", "10"), [0, 10, 9, -1, 6000]);
    const pipeline = client.pipeline();
    for (let call = 0; call < 12; call++) pipeline.call("GCRA.LIMIT", "ioredis:pipeline", "60000", "10");
    const replies = (await pipeline.exec()) ?? [];
    assert.equal(replies.filter(([, reply]) => (reply as number[])[0] === 0).length, 10);
    client.disconnect();
  });

  it("redis for Python", () => {
    const program = [
      "import redis, sys",
      "client = redis.Redis(port=int(sys.argv[1]))",
      "print(client.execute_command('GCRA.LIMIT', 'python', 60000, 10))",
      "print(client.execute_command('CL.THROTTLE', 'cell', 15, 30, 60, 1))",
      "client.set('text', 'value'); print(client.get('text'))",
    ].join("\n");
    const output = execFileSync("python3", ["-c", program, String(server.port)], { encoding: "utf8" });
    assert.equal(output, "[0, 10, 9, -1, 6000]\n[0, 16, 15, -1, 2]\nb'value'\n");
  });

  it("HotKV over hotkv://", async () => {
    const client = new HotKV({ url: `hotkv://127.0.0.1:${server.port}` });
    const result = await client.gcraLimit("hotkv", 60_000, 10);
    assert.deepEqual(result, { denied: false, limit: 10, remaining: 9, retryAfterMs: -1, resetAfterMs: 6000 });
    await assert.rejects(client.rateLimitCheck("missing", "k"), (error) => {
      return error instanceof HotKVError && error.code === "ERR" && error.message === "ERR limiter not found";
    });
    await client.close();
    await assert.rejects(client.gcraLimit("hotkv", 60_000, 10), { code: "CLOSED" });
  });

  it("HotKV connects anew after the server was away, and sends nothing twice", async () => {
    const first = await startServer();
    const client = new HotKV({ url: `hotkv://127.0.0.1:${first.port}`, timeoutMs: 1000 });
    assert.equal((await client.gcraLimit("k", 60_000, 10)).remaining, 9);
    await first.stop("SIGKILL");
    await assert.rejects(client.gcraLimit("k", 60_000, 10), { name: "HotKVError" });
    await using second = await startServer("--port", String(first.port));
    let answered: number | undefined;
    for (let attempt = 0; attempt < 50 && answered === undefined; attempt++) {
      answered = await client.gcraLimit("k", 60_000, 10).then(
        ({ remaining }) => remaining,
        () => undefined,
      );
      if (answered === undefined) await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assert.equal(answered, 9, "the new server was asked once");
    await client.close();
    assert.equal(second.port, first.port);
  });

  it("INFO counts decisions by command and outcome", async () => {
    await using own = await startServer();
    const client = new HotKV({ url: `hotkv://127.0.0.1:${own.port}` });
    for (let call = 0; call < 3; call++) await client.gcraLimit("k", 60_000, 2);
    const info = String(await client.command("INFO"));
    assert.match(info, /^gcra\.limit:allowed=2,denied=1,error=0\r$/m);
    assert.match(info, /^db0:keys=1,/m);
    await client.close();
  });

  it("HotKV says when nobody answers", async () => {
    const client = new HotKV({ url: "hotkv://127.0.0.1:1", timeoutMs: 500 });
    await assert.rejects(client.gcraLimit("k", 60_000, 10), { name: "HotKVError", code: "STORE_UNAVAILABLE" });
    await client.close();
  });
});

describe("hotkv:// is as every other transport", () => {
  let server: Running;
  before(async () => {
    server = await startServer();
  });
  after(() => server.stop());

  it("reads the largest integers exactly, errors among replies, and maps", async () => {
    await using client = new HotKV({ url: `hotkv://127.0.0.1:${server.port}` });
    const most = Number.MAX_SAFE_INTEGER;
    assert.deepEqual(await client.command("GCRA.LIMIT", "most", most, most, most), [0, most, 0, -1, most]);
    const replies = await client.pipeline([
      ["MULTI"],
      ["SET", "text", "some"],
      ["GCRA.LIMIT", "text", 1000, 1],
      ["GET", "text"],
      ["EXEC"],
      ["HELLO", 3],
      ["HELLO", 2],
    ]);
    const [status, error, text] = replies[4] as [unknown, unknown, unknown];
    assert.deepEqual([status, text], ["OK", "some"]);
    assert.ok(error instanceof HotKVError && error.code === "WRONGTYPE");
    assert.ok(replies[5] instanceof Map && replies[5].get("proto") === 3);
  });

  it("refuses what has no one spelling, and sends nothing", async () => {
    await using client = new HotKV({ url: `hotkv://127.0.0.1:${server.port}` });
    for (const argument of ["\ud800", Number.NaN, undefined, null, true, {}]) {
      await assert.rejects(client.command("SET", argument as string, "1"), { code: "INVALID_ARGUMENT" });
    }
    assert.deepEqual(await client.keys("?"), []);
  });

  for (const password of [undefined, "secret"]) {
    it(`gives up on a server that does not answer ${password === undefined ? "a command" : "AUTH"}, and asks anew`, async () => {
      let answers = false;
      const silent = createServer((socket) => {
        socket.on("error", () => {});
        socket.on("data", (bytes) => {
          if (answers)
            socket.write(String(bytes).includes("AUTH") ? "+OK\r\n" : "*5\r\n:0\r\n:1\r\n:0\r\n:-1\r\n:9\r\n");
        });
      }).listen(0);
      await once(silent, "listening");
      const { port } = silent.address() as { port: number };
      const options = password === undefined ? {} : { password };
      const client = new HotKV({ url: `hotkv://127.0.0.1:${port}`, timeoutMs: 200, ...options });
      const late = { code: "STORE_UNAVAILABLE", message: `no answer from 127.0.0.1:${port}: none within 200 ms` };
      await assert.rejects(client.gcraLimit("key", 1000, 1), late);
      answers = true;
      assert.equal((await client.gcraLimit("key", 1000, 1)).resetAfterMs, 9);
      await client.close();
      silent.close();
    });
  }
});
