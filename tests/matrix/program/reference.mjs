// The worked cases of the reference documents, through the client and the valve that users have.

import { equal, refused } from "./expect.mjs";
import { commandCases, policyCases } from "./vectors.mjs";

/** Every command case on a client of its own, its clock set by each step. */
export async function commands({ HotKV }, check) {
  for (const { name, steps } of commandCases) {
    await check(name, async () => {
      let now = 0;
      const client = new HotKV({ clock: () => now });
      for (const { at, command, reply } of steps) {
        now = at;
        const label = command.join(" ");
        if (reply?.error === undefined) equal(await client.command(...command), reply?.ok ?? reply, label);
        else await refused(() => client.command(...command), reply.error.split(" ")[0], beginningWith(reply.error));
      }
      await client.close();
    });
  }
}

/** Every policy case through a valve. */
export async function policies({ HotKV, Valve }, check) {
  for (const { name, rate, error, steps } of policyCases) {
    await check(name, async () => {
      let now = steps[0]?.at ?? 0;
      const make = () => new Valve({ store: new HotKV({ clock: () => now }), namespace: "matrix", rate });
      if (error !== undefined) return refused(make, error, /./);
      const valve = make();
      for (const { at, cost, scope, reply } of steps) {
        now = at;
        const ask = () => valve.admit({ cost, scope });
        if (reply.error !== undefined) {
          await refused(ask, reply.error, /./);
          continue;
        }
        const { allowed, retryAfterMs, blockedBy } = await ask();
        equal(
          [allowed, retryAfterMs, blockedBy.map(({ index }) => index)],
          [reply.allowed, reply.retryAfterMs, reply.blockedBy ?? []],
          JSON.stringify({ at, cost, scope }),
        );
      }
    });
  }
}

function beginningWith(text) {
  return { test: (message) => message.startsWith(text), toString: () => text };
}
