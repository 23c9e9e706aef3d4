import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { HotKV, HotKVError } from "tidegate";
import { type ConformingStore, itConforms } from "../conformance.ts";
import { parseReply, resp } from "../node/vectors.ts";
import { bundle, temporaryFolder, Workerd } from "./workerd.ts";

const built = fileURLToPath(new URL("../../build/worker", import.meta.url));
const folder = temporaryFolder();
const workers: Workerd[] = [];

/**
 * Starts the built Worker. Its entry is wrapped so that the clock can be set: what is deployed has no such hook. Until it is
 * set it is the machine's, or stands at `clock`: an alarm that comes before that must not take what is stored for expired.
 */
async function start(name: string, variables: Record<string, string>, clock?: number): Promise<Workerd> {
  const entry = join(folder, `${name}.js`);
  const deployed = JSON.stringify(join(built, "index.js"));
  writeFileSync(
    entry,
    `import worker from ${deployed};
     import { TidegateObject as Deployed } from ${deployed};
     let trap = null;
     export class TidegateObject extends Deployed {
       constructor(state, env) {
         const { sql } = state.storage;
         const exec = sql.exec.bind(sql);
         sql.exec = (query, ...bindings) => {
           const cursor = exec(query, ...bindings);
           // What the engine finds when the query returns leads nowhere: all of its pointers are wild.
           if (trap !== null && query.startsWith(trap)) {
             trap = null;
             new Uint8Array(memory.buffer).fill(0xff);
           }
           return cursor;
         };
         super(state, env);
       }
     }
     const realNow = Date.now;
     let clock = ${clock};
     let memory;
     const { Instance } = WebAssembly;
     WebAssembly.Instance = function (compiled, imports) {
       const instance = new Instance(compiled, imports);
       memory = instance.exports.memory;
       return instance;
     };
     Date.now = () => clock ?? realNow();
     export default {
       fetch(request, env, context) {
         const at = request.headers.get("x-test-clock");
         if (at !== null) clock = Number(at);
         if (request.headers.has("x-test-exhaust")) {
           memory.grow(65_536 - memory.buffer.byteLength / 65_536);
           return new Response(String(memory.buffer.byteLength));
         }
         if (request.headers.has("x-test-trap")) {
           trap = request.headers.get("x-test-trap");
           return new Response();
         }
         const object = request.headers.get("x-test-object");
         if (object !== null) return env.TIDEGATE.get(env.TIDEGATE.idFromName(object)).fetch(request);
         if (!request.headers.has("x-test-binding")) return worker.fetch(request, env, context);
         // A binding that says what it was asked for, in place of the platform's, which has no jurisdictions here.
         const told = [];
         class Binding {
           static name = "DurableObjectNamespace";
           jurisdiction(jurisdiction) {
             told.push(jurisdiction);
             return new Binding();
           }
           idFromName(name) {
             return env.TIDEGATE.idFromName(name);
           }
           get(id, options) {
             told.push(options?.locationHint ?? null);
             return env.TIDEGATE.get(id);
           }
         }
         const binding = new Binding();
         return worker.fetch(request, { ...env, TIDEGATE: binding }, context).then(() => Response.json(told));
       },
     };`,
  );
  const workerd = await Workerd.start({
    folder: await bundle(entry, folder),
    storage: join(folder, `${name}-storage`),
    classes: { TIDEGATE: "TidegateObject" },
    variables,
  });
  workers.push(workerd);
  return workerd;
}

let worker: Workerd;
before(async () => {
  // The worked cases below set the clock as they like, and want every answer from the object.
  const variables = { TIDEGATE_TOKEN: "s3cret", TIDEGATE_MAX_LIMITERS: "10000", TIDEGATE_DENY_CACHE_MS: "0" };
  worker = await start("open", variables, 0);
});
after(async () => {
  for (const workerd of workers) await workerd.kill();
  rmSync(folder, { recursive: true, force: true });
});

const authorization = "Bearer s3cret";

async function post(path: string, body: unknown, headers: Record<string, string> = { authorization }) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(worker.url + path, { method: "POST", body: text, headers });
  const json = (await response.json()) as { title?: string; status?: number; detail?: string };
  return { status: response.status, type: response.headers.get("content-type"), json };
}

describe("the Worker's HTTP interface", () => {
  it("runs a command, and says what is wrong with one", async () => {
    const first = await post("/v1/command", ["GCRA.LIMIT", "http:a", 60000, 10]);
    assert.deepEqual([first.status, first.json], [200, { result: [0, 10, 9, -1, 6000] }]);
    const wrong = await post("/v1/command", ["GCRA.LIMIT", "http:a", 60000, 0]);
    assert.deepEqual(wrong.json, { error: "ERR value is not an integer or out of range" });
  });

  it("F9: a budget may take 285,000 years to recover, which no alarm can wait for", async () => {
    for (const years of [285_000, 300]) {
      const period = Math.min(Number.MAX_SAFE_INTEGER, years * 365.25 * 86_400_000);
      const ask = () => post("/v1/command", ["GCRA.LIMIT", `years ${years}`, period, 1]);
      assert.deepEqual((await ask()).json, { result: [0, 1, 0, -1, period] });
      assert.deepEqual((await ask()).json, { result: [1, 1, 0, period, period] });
    }
  });

  it("runs a pipeline in its order, whatever objects it needs", async () => {
    const { json } = await post("/v1/pipeline", [
      ["SET", "p1", "x"],
      ["GET", "p1"],
      ["RATELIMIT.CREATE", "pipe", 2, 60000],
      ["RATELIMIT.CHECK", "pipe", "k"],
      ["RATELIMIT.LIST"],
      ["DEL", "p1", "p2"],
      ["GET", "p1"],
      ["KEYS", "*"],
    ]);
    const answers = json as unknown as { result?: unknown; error?: string }[];
    assert.deepEqual(
      answers.slice(0, 7).map(({ result }) => result),
      ["OK", "x", "OK", [1, 1, 0, 2, 0], ["pipe"], 1, null],
    );
    assert.match(answers[7]?.error ?? "", /^ERR KEYS is not offered across Durable Objects/);
  });

  it("takes MULTI for one object and refuses it for several", async () => {
    const one = await post("/v1/pipeline", [["MULTI"], ["SET", "{m}1", "a"], ["GET", "{m}1"], ["EXEC"]]);
    assert.deepEqual(one.json, [{ result: "OK" }, { result: "QUEUED" }, { result: "QUEUED" }, { result: ["OK", "a"] }]);
    const two = await post("/v1/pipeline", [["MULTI"], ["SET", "m1", "a"], ["SET", "m2", "a"], ["EXEC"]]);
    const errors = (two.json as unknown as { error?: string }[]).map(({ error }) => error?.split(" ")[0]);
    assert.deepEqual(errors, [undefined, "CROSSSLOT", "CROSSSLOT", "EXECABORT"]);
    assert.deepEqual((await post("/v1/command", ["GET", "m1"])).json, { result: null });
  });

  it("answers nobody without the token, and says so as a problem document", async () => {
    for (const headers of [
      {},
      { authorization: "Bearer wrong" },
      { authorization: "s3cret" },
      { authorization: "Bearer " },
    ]) {
      const { status, type, json } = await post("/v1/command", ["PING"], headers as Record<string, string>);
      assert.equal(status, 401);
      assert.equal(type, "application/problem+json");
      assert.deepEqual([json.title, json.status, typeof json.detail], ["Unauthorized", 401, "string"]);
    }
    const metrics = await fetch(`${worker.url}/metrics`);
    assert.equal(metrics.status, 401);
    await metrics.arrayBuffer();
  });

  it("refuses what is no command, too long, in no place, or of another method", async () => {
    assert.equal((await post("/v1/command", "{")).status, 400);
    assert.equal((await post("/v1/command", [])).status, 400);
    assert.equal((await post("/v1/pipeline", ["PING"])).status, 400);
    assert.equal((await post("/v1/command", JSON.stringify(["ECHO", "x".repeat(1 << 20)]))).status, 413);
    assert.equal((await post("/v1/nothing", [])).status, 404);
    const get = await fetch(`${worker.url}/v1/command`);
    assert.equal(get.status, 405);
    assert.equal(get.headers.get("access-control-allow-origin"), null);
    await get.arrayBuffer();
  });

  it("says that it runs, what it counted, and what it offers", async () => {
    const health = await fetch(`${worker.url}/v1/health`);
    assert.deepEqual(await health.json(), { status: "ok" });
    await post("/v1/command", ["GCRA.LIMIT", "metrics", 60000, 1]);
    await post("/v1/command", ["GCRA.LIMIT", "metrics", 60000, 1]);
    const metrics = await (await fetch(`${worker.url}/metrics`, { headers: { authorization } })).text();
    assert.match(metrics, /^tidegate_commands_total\{command="gcra.limit",outcome="denied"\} [1-9]/m);
    assert.match(metrics, /^tidegate_http_requests_total\{endpoint="\/v1\/command",status="200"\} [1-9]/m);
    const openapi = (await (await fetch(`${worker.url}/openapi.json`)).json()) as { paths: Record<string, unknown> };
    for (const path of ["/v1/command", "/v1/pipeline", "/v1/resp", "/v1/health", "/metrics"])
      assert.ok(openapi.paths[path]);
  });
});

describe("F43: a Worker whose WebAssembly fails", () => {
  it("out of memory: the call gets a clear error, the next ones their answers, from storage", async () => {
    const check = () => post("/v1/command", ["GCRA.LIMIT", "trapped", 3_600_000, 3]);
    assert.deepEqual((await check()).json, { result: [0, 3, 2, -1, 1_200_000] });
    for (let round = 0; round < 2; round++) {
      await (await fetch(worker.url, { headers: { "x-test-exhaust": "1" } })).arrayBuffer();
      const failed = await post("/v1/command", ["SET", "big", "x".repeat(900_000)]);
      const told = failed.status === 503 ? failed.json.detail : (failed.json as { error?: string }).error;
      assert.match(told ?? "", /the engine failed and is started anew|STORE_UNAVAILABLE/);
      const { json } = await check();
      assert.deepEqual((json as { result: number[] }).result.slice(0, 3), [0, 3, 1 - round]);
    }
    assert.equal(((await check()).json as { result: number[] }).result[0], 1);
  });

  it("a trap in an object: the call gets a clear error, the next ones their answers in every object", async () => {
    const check = (key: string) => post("/v1/command", ["GCRA.LIMIT", key, 3_600_000, 3]);
    const remaining = async (key: string) => ((await check(key)).json as { result: number[] }).result[2];
    const keys = ["trap 1", "trap 2", "trap 3"] as const;
    for (const key of keys) assert.equal(await remaining(key), 2);
    await (await fetch(worker.url, { headers: { "x-test-trap": "INSERT" } })).arrayBuffer();
    const failed = await check(keys[0]);
    const told = failed.status === 503 ? failed.json.detail : (failed.json as { error?: string }).error;
    assert.match(told ?? "", /the engine failed and is started anew|STORE_UNAVAILABLE/);
    for (const key of keys.slice(1)) assert.equal(await remaining(key), 1);
    // What it had stored when it trapped may count, though nobody was told of it; what it had answered does.
    const left = await remaining(keys[0]);
    assert.ok(left === 0 || left === 1, String(left));
  });

  it("F44: two first requests at once both get their answers", async () => {
    const fresh = await start("first", { TIDEGATE_DEV: "allow-anyone" });
    const ask = async () => {
      const body = JSON.stringify(["GCRA.LIMIT", "first", 3_600_000, 10]);
      const response = await fetch(`${fresh.url}/v1/command`, { method: "POST", body });
      return ((await response.json()) as { result: number[] }).result[2];
    };
    const remaining = await Promise.all(Array.from({ length: 10 }, ask));
    assert.deepEqual(
      remaining.sort((a = 0, b = 0) => a - b),
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    );
  });
});

describe("a Worker without a token", () => {
  it("answers 503 and says how to set one, except where development allows anyone", async () => {
    const closed = await start("closed", {});
    const refused = await fetch(`${closed.url}/v1/command`, { method: "POST", body: '["PING"]' });
    assert.equal(refused.status, 503);
    assert.match(((await refused.json()) as { detail: string }).detail, /wrangler secret put TIDEGATE_TOKEN/);
    const development = await start("development", { TIDEGATE_DEV: "allow-anyone" });
    const answered = await fetch(`${development.url}/v1/command`, { method: "POST", body: '["PING"]' });
    assert.deepEqual(await answered.json(), { result: "PONG" });
  });
});

describe("what the Worker reads from its variables", () => {
  const development = { TIDEGATE_DEV: "allow-anyone" };
  const command = async (at: Workerd, words: readonly unknown[], headers: Record<string, string> = {}) => {
    const response = await fetch(`${at.url}/v1/command`, { method: "POST", body: JSON.stringify(words), headers });
    return (await response.json()) as { result?: number[]; detail?: string };
  };
  /** Changes a key behind the Worker's back, as another isolate would. */
  const elsewhere = async (at: Workerd, key: string, words: readonly string[]) => {
    const headers = { "x-test-object": `key:default:${key}` };
    const response = await fetch(at.url, { method: "POST", headers, body: new Uint8Array(resp(words)) });
    assert.equal(await response.text(), ":1\r\n");
  };
  const clock = (ms: number) => ({ "x-test-clock": String(ms) });

  it("TIDEGATE_DENY_CACHE_MS: a refusal is answered without the object for so long, 1,000 ms without it", async () => {
    for (const [index, [text, lasts]] of (
      [
        [undefined, 1000],
        ["250", 250],
        ["0", 0],
      ] as const
    ).entries()) {
      const variables = text === undefined ? development : { ...development, TIDEGATE_DENY_CACHE_MS: text };
      const at = await start(`denials${index}`, variables);
      const ask = (ms: number) => command(at, ["GCRA.LIMIT", "k", 10_000, 1], clock(ms));
      assert.deepEqual((await ask(5000)).result, [0, 1, 0, -1, 10_000]);
      assert.deepEqual((await ask(6000)).result, [1, 1, 0, 9000, 9000]);
      await elsewhere(at, "k", ["DEL", "k"]);
      if (lasts > 0) assert.deepEqual((await ask(6000 + lasts - 1)).result, [1, 1, 0, 9001 - lasts, 9001 - lasts]);
      assert.deepEqual((await ask(6000 + lasts)).result, [0, 1, 0, -1, 10_000]);
    }
  });

  it("F39: what this isolate resets is asked again at once", async () => {
    const at = await start("resets", development);
    const ask = () => command(at, ["GCRA.LIMIT", "k", 10_000, 1], clock(5000));
    await ask();
    assert.equal((await ask()).result?.[0], 1);
    await command(at, ["GCRA.RESET", "k"]);
    assert.equal((await ask()).result?.[0], 0);
  });

  it("a wrong TIDEGATE_DENY_CACHE_MS is told to the caller by its name", async () => {
    const at = await start("wrong", { ...development, TIDEGATE_DENY_CACHE_MS: "1s" });
    assert.match(
      (await command(at, ["PING"])).detail ?? "",
      /TIDEGATE_DENY_CACHE_MS must be whole milliseconds, not 1s/,
    );
  });

  it("TIDEGATE_JURISDICTION and TIDEGATE_LOCATION_HINT reach the platform, and nothing does without them", async () => {
    const told = async (at: Workerd) => command(at, ["GET", "k"], { "x-test-binding": "1" }) as Promise<unknown>;
    assert.deepEqual(await told(await start("anywhere", development)), [null]);
    const there = { ...development, TIDEGATE_JURISDICTION: "eu", TIDEGATE_LOCATION_HINT: "weur" };
    assert.deepEqual(await told(await start("there", there)), ["eu", "weur"]);
  });
});

/** One object by itself: what the worked cases mean by an engine. */
function openObject(object: string): ConformingStore {
  return {
    command: async (at, command) => {
      const headers = { "x-test-clock": String(at), "x-test-object": object };
      const response = await fetch(worker.url, { method: "POST", headers, body: new Uint8Array(resp(command)) });
      const reply = parseReply(new Uint8Array(await response.arrayBuffer()));
      if (reply === null || typeof reply !== "object" || Array.isArray(reply)) return reply;
      if ("error" in reply) throw HotKVError.fromReply(reply.error);
      return reply.ok;
    },
    reopen: async () => {
      await worker.kill();
      await worker.start();
    },
    close: async () => {},
  };
}

describe("the Worker's Durable Object: the worked cases hold", () => {
  let cases = 0;
  itConforms(async () => openObject(`engine ${++cases}`), { everyCase: 2 });
});

// What a killed process had served last is not stored, so a clock that steps back then is not part of this.
describe("the Worker's Durable Object: the worked cases hold with the process killed now and then", () => {
  let cases = 0;
  itConforms(async () => openObject(`killed ${++cases}`), { monotonic: true, everyCase: 10, reopenEvery: 40 });
});

// Every key is in an object of its own, which knows only the times that it served itself. Where the cases let the clock step
// back after another key was asked, one engine drops what had expired by that key's time, and these objects can't. Cases of
// one object with such steps are above.
describe("https: the worked cases hold through the Worker", () => {
  let cases = 0;
  itConforms(
    async (): Promise<ConformingStore> => {
      // Keys get a prefix of their own in place of a fresh engine; names of limiters and policies too.
      const tag = `c${++cases}:`;
      const url = `${worker.url}/`;
      const client = new HotKV({ url, token: "s3cret" });
      return {
        command: async (at, [name = "", ...args]) => {
          await (await fetch(`${worker.url}/v1/health`, { headers: { "x-test-clock": String(at) } })).arrayBuffer();
          const reply = await client.command(name, ...prefixed(name, args, tag));
          if (/^RATELIMIT\.LIST$/i.test(name) && Array.isArray(reply)) {
            return reply.filter((name) => String(name).startsWith(tag)).map((name) => unprefixed(name, tag));
          }
          return unprefixed(reply, tag);
        },
        close: () => client.close(),
      };
    },
    { monotonic: true, everyCase: 3 },
  );
});

/** The arguments with every key and name in them moved to the case's own. */
function prefixed(name: string, args: readonly string[], tag: string): readonly string[] {
  if (/^(DEL|UNLINK|EXISTS|GCRA\.RESET)$/i.test(name)) return args.map((key) => tag + key);
  if (args.length === 0 || /^(PING|ECHO)$/i.test(name)) return args;
  const [first = "", ...rest] = args;
  return [tag + first, ...rest];
}

function unprefixed(reply: unknown, tag: string): unknown {
  if (typeof reply === "string" && reply.startsWith(tag)) return reply.slice(tag.length);
  if (!Array.isArray(reply)) return reply;
  return reply.map((item) => unprefixed(item, tag));
}

describe("the Worker's size", () => {
  it("at most 200 KB in gzip", async () => {
    const files = ["index.js", "tidegate.js", "tidegate_bg.wasm"].map((name) => readFileSync(join(built, name)));
    const zipped = gzipSync(Buffer.concat(files), { level: 9 }).length;
    assert.ok(zipped <= 200 * 1024, `${zipped} bytes`);
  });
});
