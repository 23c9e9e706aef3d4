import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe } from "node:test";
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
