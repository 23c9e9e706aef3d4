import assert from "node:assert/strict";
import { mkdtempSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { RawClient, resp, startServer, startServerWithin } from "./server.ts";

const file = () => join(mkdtempSync(join(tmpdir(), "tidegate-")), "limits.db");

describe("limits outlive the server", () => {
  it("F50: a restart goes on where it was", async () => {
    const data = file();
    const ask = async () => {
      await using server = await startServer("--data", data);
      await using client = new RawClient(server.port);
      client.send(resp("GCRA.LIMIT", "k", "3600000", "3"));
      const [, denied, , remaining] = (await client.lines(6)).split("\r\n");
      await server.stop();
      return `${denied} ${remaining}`;
    };
    assert.deepEqual([await ask(), await ask(), await ask(), await ask()], [":0 :2", ":0 :1", ":0 :0", ":1 :0"]);
  });

  it("a second server on the same file is refused with a sentence", async () => {
    const data = file();
    await using _first = await startServer("--data", data);
    await assert.rejects(startServer("--data", data), /is open already/);
  });

  it("a file of a newer version is refused before anybody is served", async () => {
    const data = file();
    const database = new DatabaseSync(data);
    database.exec("CREATE TABLE tidegate (space, name, at, kind, a, b, c, data, expires)");
    database.exec("INSERT INTO tidegate VALUES (-1, x'', -1, 7, 99, 0, 1, NULL, NULL)");
    database.close();
    await assert.rejects(startServer("--data", data), /is of version 99, and this code reads version \d+ and older/);
  });

  it("on a full disk whoever writes is told why, whoever reads is answered, and nothing that was answered is forgotten", async () => {
    const data = file();
    const ask = (key: number) => resp("GCRA.LIMIT", `${key}${"k".repeat(2000)}`, "86400000", "3");
    let answered = 0;
    {
      await using server = await startServerWithin(400, "--data", data);
      await using writer = new RawClient(server.port);
      for (; !writer.received.includes("-STORE"); answered++) {
        writer.send(ask(answered));
        const before = writer.received.length;
        while (writer.received.length === before) await sleep(1);
      }
      await writer.closed;
      answered--;
      assert.match(
        writer.received,
        /:-1\r\n:28800000\r\n-STORE_UNAVAILABLE the store failed, .*(full|I\/O error)\r\n$/,
      );
      await using reader = new RawClient(server.port);
      reader.send(resp("TTL", `0${"k".repeat(2000)}`));
      assert.match(await reader.lines(1), /^:\d+\r\n$/);
      await server.stop("SIGKILL");
    }
    assert.ok(answered > 10 && statSync(data).size > 0, `${answered} were answered`);
    await using server = await startServer("--data", data);
    await using client = new RawClient(server.port);
    for (let key = 0; key <= answered; key++) client.send(ask(key));
    const replies = (await client.lines(6 * (answered + 1))).match(/\*5\r\n:0\r\n:3\r\n:\d/g);
    assert.deepEqual(
      replies?.map((reply) => Number(reply.at(-1))),
      [...Array(answered).fill(1), 2],
    );
  });

  it("killed at any moment under load, it forgets no admission that it answered", async () => {
    const data = file();
    const limit = 20_000;
    let answered = 0;
    for (let round = 0; round < 6; round++) {
      await using server = await startServer("--data", data);
      const clients = Array.from({ length: 4 }, () => new RawClient(server.port));
      const pipeline = resp("GCRA.LIMIT", "k", "86400000000", String(limit)).repeat(8);
      let admitted = 0;
      let open = true;
      const load = clients.map(async (client) => {
        while (open) {
          client.send(pipeline);
          await sleep(1);
        }
      });
      await sleep(40 + round * 15);
      open = false;
      await server.stop("SIGKILL");
      await Promise.all(load);
      // Whole replies that arrived; what was decided and never answered is nobody's promise.
      for (const client of clients) {
        await client.closed;
        admitted += client.received.match(/\*5\r\n:0\r\n:\d+\r\n:\d+\r\n:-1\r\n:\d+\r\n/g)?.length ?? 0;
      }
      answered += admitted;
    }
    await using server = await startServer("--data", data);
    await using client = new RawClient(server.port);
    client.send(resp("GCRA.LIMIT", "k", "86400000000", String(limit), String(limit)));
    const remaining = Number((await client.lines(6)).split("\r\n")[3]?.slice(1));
    assert.ok(answered > 50, `${answered} were answered`);
    assert.ok(limit - remaining >= answered, `${answered} were answered and ${limit - remaining} are remembered`);
    assert.ok(answered <= limit);
  });
});
