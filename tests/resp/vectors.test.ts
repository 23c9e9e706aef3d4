import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { HotKV } from "tidegate";
import { openHost, serve } from "tidegate/server";
import { itConforms } from "../conformance.ts";

/** A server in this process whose clock the test sets, and a client of it. */
async function openServed() {
  let now = 0;
  const server = await serve(openHost({ clock: () => now }), { port: 0 });
  const client = new HotKV({ url: `hotkv://127.0.0.1:${server.port}` });
  return {
    command: (at: number, [name = "", ...args]: readonly string[]) => {
      now = at;
      return client.command(name, ...args);
    },
    close: async () => {
      await client.close();
      await server.close();
    },
  };
}

describe("the worked cases hold through a socket", () => itConforms(openServed));

describe("CL.THROTTLE answers as redis-cell does", () => {
  it("its documented example", async () => {
    const { command, close } = await openServed();
    assert.deepEqual(await command(0, ["CL.THROTTLE", "user123", "15", "30", "60", "1"]), [0, 16, 15, -1, 2]);
    for (let call = 1; call < 16; call++) await command(0, ["CL.THROTTLE", "user123", "15", "30", "60"]);
    assert.deepEqual(await command(0, ["CL.THROTTLE", "user123", "15", "30", "60"]), [1, 16, 0, 2, 32]);
    await close();
  });

  it("the decision table of the library it is made from: 5 at once, one a second", async () => {
    // When, how many, and what is due: limited, remaining, seconds to retry, seconds to reset.
    const rows = [
      [0, 6, 1, 5, -1, 0],
      [0, 1, 0, 4, -1, 1],
      [0, 1, 0, 3, -1, 2],
      [0, 1, 0, 2, -1, 3],
      [0, 1, 0, 1, -1, 4],
      [0, 1, 0, 0, -1, 5],
      [0, 1, 1, 0, 1, 5],
      [3000, 1, 0, 2, -1, 3],
      [3100, 1, 0, 1, -1, 4],
      [4000, 1, 0, 1, -1, 4],
      [8000, 1, 0, 4, -1, 1],
      [9500, 1, 0, 4, -1, 1],
      [9500, 0, 0, 4, -1, 1],
      [9500, 2, 0, 2, -1, 3],
      [9500, 5, 1, 2, 3, 3],
    ] as const;
    const { command, close } = await openServed();
    for (const [index, [ms, quantity, limited, remaining, retry, reset]] of rows.entries()) {
      const reply = await command(1_764_547_200_000 + ms, ["CL.THROTTLE", "k", "4", "1", "1", String(quantity)]);
      assert.deepEqual(reply, [limited, 5, remaining, retry, reset], `row ${index}`);
    }
    await close();
  });
});
