import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { RawClient, type Running, resp, startServer } from "./server.ts";

describe("F48: what is no request gets one error, and nobody else is harmed", () => {
  let server: Running;
  before(async () => {
    server = await startServer();
  });
  after(() => server.stop());

  const faults: Readonly<Record<string, string>> = {
    "a bulk string without its end": "*1\r\n$3\r\nfooXX",
    "a negative length": "*1\r\n$-5\r\n",
    "a bulk string of a gigabyte": "*1\r\n$1073741824\r\n",
    "a bulk string past any integer": "*1\r\n$99999999999999999999\r\n",
    "a million arguments": "*1048576\r\n",
    "a negative number of arguments": "*-7\r\n",
    "an array inside an array": "*1\r\n*1\r\n$4\r\nPING\r\n",
    "an integer for an argument": "*1\r\n:1\r\n",
  };
  for (const [what, bytes] of Object.entries(faults)) {
    it(what, async () => {
      await using other = new RawClient(server.port);
      await using client = new RawClient(server.port);
      client.send(bytes + resp("PING"));
      await client.closed;
      assert.match(client.received, /^-ERR Protocol error: [^\r\n]+\r\n$/);
      other.send(resp("PING"));
      assert.equal(await other.lines(1), "+PONG\r\n");
    });
  }

  it("a command's name that would forge a reply is shown safely", async () => {
    await using client = new RawClient(server.port);
    client.send(resp("X\r\n:1") + resp("PING"));
    const replies = (await client.lines(2)).split("\r\n");
    assert.match(replies[0] ?? "", /^-ERR unknown command '/);
    assert.deepEqual(replies.slice(1), ["+PONG", ""]);
  });
});

describe("F49: a pipeline gives the same replies however it is cut", () => {
  it("10,000 commands, whole and in pieces of every size from 1 to 64", async () => {
    await using server = await startServer();
    const commands = Array.from({ length: 10_000 }, (_, at) =>
      resp("GCRA.LIMIT", `k:${at % 50}:{}`, "3600000000", "1000"),
    );
    const answers = async (prefix: string, size: (at: number) => number) => {
      await using client = new RawClient(server.port);
      const bytes = Buffer.from(commands.join("").replaceAll("{}", prefix));
      for (let at = 0, piece = 0; at < bytes.length; piece++) {
        const end = at + size(piece);
        if (!client.socket.write(bytes.subarray(at, end))) await once(client.socket, "drain");
        at = end;
      }
      return (await client.lines(60_000)).replace(/:\d{5,}/g, ":reset");
    };
    const whole = await answers("aa", () => 1 << 20);
    assert.equal(await answers("bb", (piece) => 1 + (piece % 64)), whole);
  });

  it("one command at a time, byte by byte", async () => {
    await using server = await startServer();
    await using client = new RawClient(server.port);
    for (const byte of Buffer.from(resp("ECHO", "a\r\nb") + resp("PING"))) {
      client.send(Buffer.of(byte));
      await sleep(1);
    }
    assert.equal(await client.lines(4), "$4\r\na\r\nb\r\n+PONG\r\n");
  });
});

describe("F51: no number kills the server", () => {
  it("rates of 0 and counts past any integer are typed errors", async () => {
    await using server = await startServer();
    await using client = new RawClient(server.port);
    const commands = [
      ["GCRA.LIMIT", "k", "0", "0"],
      ["GCRA.LIMIT", "k", "9007199254740991", "9007199254740991", "9007199254740991"],
      ["GCRA.LIMIT", "k", "1", "1", "18446744073709551616"],
      ["RATELIMIT.CREATE", "l", "1", "1", "ALGO", "token_bucket", "REFILL", "0"],
      ["CL.THROTTLE", "k", "9007199254740991", "1", "1"],
      ["CL.THROTTLE", "k", "1", "0", "1"],
      ["EXPIRE", "k", "9223372036854775807"],
      ["PING"],
    ];
    client.send(commands.map((words) => resp(...words)).join(""));
    const replies = await client.lines(13);
    assert.match(replies, /\+PONG\r\n$/);
    assert.equal(replies.match(/^-ERR /gm)?.length, 6);
  });
});

describe("safe by default", () => {
  it("refuses to listen beyond loopback without a password, and says what to do", async () => {
    await assert.rejects(startServer("--host", "0.0.0.0"), /--password-file/);
  });

  it("asks for the password, slows down guesses, and then serves", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "tidegate-")), "password");
    writeFileSync(file, "correct horse\n");
    await using server = await startServer("--password-file", file);
    await using client = new RawClient(server.port);
    client.send(resp("GCRA.LIMIT", "k", "60000", "10"));
    assert.match(await client.lines(1), /^-NOAUTH /);
    const started = performance.now();
    client.send(resp("AUTH", "battery staple"));
    await client.lines(2);
    client.send(resp("AUTH", "correct horse"));
    assert.match(await client.lines(3), /-WRONGPASS .*\r\n\+OK\r\n$/);
    // Nothing was read for 100 ms after the wrong one.
    assert.ok(performance.now() - started >= 90);
    client.send(resp("GCRA.LIMIT", "k", "60000", "10"));
    assert.match(await client.lines(9), /:0\r\n:10\r\n:9\r\n:-1\r\n:6000\r\n$/);
  });

  it("tells one client too many so", async () => {
    await using server = await startServer("--max-clients", "2");
    await using first = new RawClient(server.port);
    await using second = new RawClient(server.port);
    first.send(resp("PING"));
    second.send(resp("PING"));
    await Promise.all([first.lines(1), second.lines(1)]);
    await using third = new RawClient(server.port);
    await third.closed;
    assert.equal(third.received, "-ERR max number of clients reached\r\n");
  });

  it("answers what has arrived when it is told to stop, and exits with 0", async () => {
    const server = await startServer();
    await using client = new RawClient(server.port);
    client.send(resp("PING"));
    await client.lines(1);
    assert.equal(await server.stop(), 0);
    await client.closed;
    assert.ok(server.log.some(({ event }) => event === "stopped"));
  });
});

describe("watching it, over TLS", () => {
  it("serves /metrics and /health on loopback", async () => {
    await using server = await startServer("--metrics-port", "0");
    await using client = new RawClient(server.port);
    const commands = [
      ...Array<string[]>(3).fill(["GCRA.LIMIT", "k", "60000", "2"]),
      ["GCRA.LIMIT", "k", "0", "1"],
      ["PING"],
    ];
    client.send(commands.map((words) => resp(...words)).join(""));
    await client.lines(20);
    const port = server.log.find(({ event }) => event === "metrics")?.port;
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    for (const line of [
      'tidegate_commands_total{command="gcra.limit",outcome="allowed"} 2',
      'tidegate_commands_total{command="gcra.limit",outcome="denied"} 1',
      "tidegate_records 1",
      "tidegate_clients 1",
    ]) {
      assert.ok(metrics.includes(`${line}\n`), `${line}\nin\n${metrics}`);
    }
    assert.match(metrics, /^tidegate_batch_seconds_count [1-9]/m);
    assert.equal(await (await fetch(`http://127.0.0.1:${port}/health`)).text(), "ok\n");
  });

  it("speaks TLS with a certificate and a key", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tidegate-"));
    const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
    execFileSync(
      "openssl",
      ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, ...subject],
      { stdio: "ignore" },
    );
    await using server = await startServer("--tls-cert", cert, "--tls-key", key);
    const program = `import { HotKV } from "tidegate";
      const client = new HotKV({ url: "hotkvs://127.0.0.1:${server.port}" });
      console.log((await client.gcraLimit("k", 60000, 10)).remaining);
      await client.close();`;
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: cert };
    assert.equal(
      execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8", env }),
      "9\n",
    );
  });
});

describe("many clients, slow clients", () => {
  it("10,000 connections opened and dropped leave it as it was", async () => {
    await using server = await startServer();
    const before = residentBytes(server);
    for (let round = 0; round < 100; round++) {
      const sockets = Array.from({ length: 100 }, () => connect({ host: "127.0.0.1", port: server.port }));
      await Promise.all(sockets.map((socket) => once(socket, "connect")));
      for (const [at, socket] of sockets.entries()) {
        if (at % 2 === 0) socket.write("*3\r\n$10\r\nGCRA.");
        socket.destroy();
      }
    }
    await using client = new RawClient(server.port);
    client.send(resp("PING"));
    assert.equal(await client.lines(1), "+PONG\r\n");
    assert.ok(residentBytes(server) - before < 64 << 20, "memory returns");
  });

  it("a client that closed its half gets the replies that are on their way", async () => {
    await using server = await startServer();
    const socket = connect({ host: "127.0.0.1", port: server.port, allowHalfOpen: true });
    let received = "";
    socket.on("data", (bytes) => {
      received += bytes;
    });
    socket.end(resp("PING").repeat(3));
    await once(socket, "close");
    assert.equal(received, "+PONG\r\n".repeat(3));
  });

  it("a client that announces a gigabyte and sends nothing holds no one up", async () => {
    await using server = await startServer("--idle-timeout", "1");
    await using silent = new RawClient(server.port);
    await using other = new RawClient(server.port);
    silent.send("*2\r\n$4\r\nECHO\r\n$1048576\r\n");
    other.send(resp("PING"));
    assert.equal(await other.lines(1), "+PONG\r\n");
    await silent.closed;
  });

  it("a client that reads nothing is not buffered without bound, and others keep being served", async () => {
    await using server = await startServer();
    await using setup = new RawClient(server.port);
    setup.send(resp("SET", "big", "x".repeat(1 << 20)));
    await setup.lines(1);
    const slow = connect({ host: "127.0.0.1", port: server.port });
    slow.pause();
    slow.on("error", () => {});
    await once(slow, "connect");
    const before = residentBytes(server);
    // Ask for 2 GB of replies and read none of them.
    slow.write(Buffer.from(resp("GET", "big").repeat(2000)));
    await sleep(500);
    await using other = new RawClient(server.port);
    other.send(resp("PING"));
    assert.equal(await other.lines(1), "+PONG\r\n");
    assert.ok(residentBytes(server) - before < 512 << 20, "less than a quarter of what was asked for is held");
    slow.destroy();
  });
});

/** The server's memory, as Linux counts it. */
function residentBytes(server: Running): number {
  const pages = /^\d+ (\d+)/.exec(readStat(server.process.pid ?? 0))?.[1];
  return Number(pages) * 4096;
}

function readStat(pid: number): string {
  return process.getBuiltinModule("node:fs").readFileSync(`/proc/${pid}/statm`, "utf8");
}

describe("what a client sends around its end", () => {
  let server: Running;
  before(async () => {
    server = await startServer();
  });
  after(() => server.stop());

  const ends: Readonly<Record<string, string>> = {
    "a web page's request": "POST / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "what is no request": "*1\r\n:1\r\n",
    QUIT: resp("QUIT"),
  };
  for (const [what, bytes] of Object.entries(ends)) {
    it(`is not looked at after ${what}, when it comes later`, async () => {
      await using client = new RawClient(server.port);
      client.send(bytes);
      await client.lines(1);
      client.send(resp("SET", what, "1"));
      await client.closed;
      await using other = new RawClient(server.port);
      other.send(resp("EXISTS", what));
      assert.equal(await other.lines(1), ":0\r\n");
    });
  }

  it("is answered to the last command before QUIT, over as many chunks as it takes", async () => {
    await using client = new RawClient(server.port);
    const limits = Array.from({ length: 5000 }, (_, at) => resp("GCRA.LIMIT", `chunks:${at}`, "60000", "5"));
    client.send(limits.join("") + resp("QUIT"));
    await client.closed;
    assert.equal(client.received, `${"*5\r\n:0\r\n:5\r\n:4\r\n:-1\r\n:12000\r\n".repeat(5000)}+OK\r\n`);
  });

  it("is answered when the client has closed its half, though the replies take several turns", async () => {
    await using client = new RawClient(server.port);
    client.send(resp("ECHO", "x".repeat(500_000)).repeat(5));
    client.socket.end(resp("PING"));
    await client.closed;
    assert.ok(client.received.endsWith("x\r\n+PONG\r\n"));
  });
});

it("a client that guesses passwords in many chunks waits as long as one that does in one", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "tidegate-")), "password");
  writeFileSync(file, "secret\n");
  await using server = await startServer("--password-file", file);
  await using client = new RawClient(server.port);
  client.send(resp("AUTH", "wrong").repeat(50_000));
  await sleep(1000);
  // After 0, 100, 300 and 700 ms.
  assert.ok(client.received.split("WRONGPASS").length - 1 <= 4, client.received);
});

it("the server ends soon, whether or not its clients close their side", async () => {
  await using server = await startServer("--max-clients", "1");
  const clients = [];
  for (let at = 0; at < 2; at++) {
    const client = connect({ host: "127.0.0.1", port: server.port, allowHalfOpen: true });
    client.on("error", () => {});
    await once(client, "connect");
    client.write(resp("PING"));
    clients.push(client);
    await once(client, "data");
  }
  const from = performance.now();
  assert.equal(await server.stop(), 0);
  assert.ok(performance.now() - from < 5000);
  for (const client of clients) client.destroy();
});
