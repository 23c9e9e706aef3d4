import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { RawClient, resp, startServer } from "./server.ts";

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
