// A Worker as a user's own would be, over the package's class, and the hooks that tests need: a clock that can be set, an end of
// every engine, counts of rows, and a trap. None of them is in the package.

import {
  type Command,
  HotKV,
  HotKVError,
  type HotKVOptions,
  type Reply,
  TidegateObject,
  Valve,
} from "tidegate/workers";
import { type InitOutput, initSync } from "../../pkg/wasm/store.js";

/** The objects' clock: `undefined` is the real one. */
let clock: number | undefined;
const rows = { read: 0, written: 0 };
const calls = { count: 0, delayMs: 0 };
/** Counted up to end every engine before its next call. */
let engines = 0;
/** The query in which the engine that is called next traps. */
let trap: RegExp | undefined;
let executing = false;
/** A client for all requests. */
let shared: HotKV | undefined;

type State = ConstructorParameters<typeof TidegateObject>[0];

export class TestObject extends TidegateObject {
  #engine = engines;

  constructor(state: State, env: unknown) {
    const { sql } = state.storage;
    const exec = sql.exec.bind(sql);
    sql.exec = (query, ...bindings) => {
      const cursor = exec(query, ...bindings);
      const all = [...cursor.raw()];
      if (executing && trap?.test(query)) {
        // What the engine finds when the query returns leads nowhere: all of its pointers are wild.
        trap = undefined;
        new Uint8Array(memory().buffer).fill(0xff);
      }
      rows.read += cursor.rowsRead;
      rows.written += cursor.rowsWritten;
      return { raw: () => all, rowsRead: cursor.rowsRead, rowsWritten: cursor.rowsWritten };
    };
    super(state, env);
  }

  override execute(commands: string | Uint8Array) {
    return this.#counted(() => super.execute(commands));
  }

  override gcraLimit(ask: string) {
    return this.#counted(() => super.gcraLimit(ask));
  }

  override rateLimitCheck(name: string, ask: string) {
    return this.#counted(() => super.rateLimitCheck(name, ask));
  }

  #counted<T>(run: () => T | Promise<T>): T | Promise<T> {
    calls.count++;
    if (this.#engine !== engines) this.closeEngine();
    this.#engine = engines;
    if (calls.delayMs > 0) return new Promise<void>((done) => setTimeout(done, calls.delayMs)).then(run);
    executing = true;
    const replies = run();
    executing = false;
    return replies;
  }

  protected override now(): number {
    return clock ?? Date.now();
  }

  /** Runs the alarm out of its time; the rows that it wrote. */
  async ring(): Promise<number> {
    const before = rows.written;
    const alarm = this.alarm();
    const written = rows.written - before;
    await alarm;
    return written;
  }

  /** Whether anything is stored, and whether an alarm is set. */
  async leftovers(): Promise<{ tables: number; alarm: number | null }> {
    const tables = [...this.ctx.storage.sql.exec("SELECT count(*) FROM sqlite_master WHERE name = 'tidegate'").raw()];
    return { tables: Number(tables[0]?.[0]), alarm: await this.ctx.storage.getAlarm() };
  }
}

interface Env {
  readonly TIDEGATE: HotKVOptions["binding"];
}

interface Ask {
  readonly commands?: readonly Command[];
  readonly options?: Omit<HotKVOptions, "binding">;
  readonly object?: string;
  readonly typed?: readonly string[];
  readonly objects?: readonly string[];
  readonly at?: number | null;
  readonly delayMs?: number;
  readonly query?: string;
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/raw") {
      clock = Number(searchParams.get("at"));
      const id = env.TIDEGATE.idFromName(searchParams.get("object") ?? "");
      const stub = env.TIDEGATE.get(id) as unknown as TestObject;
      const replies = await stub.execute(new Uint8Array(await request.arrayBuffer()));
      return new Response(replies as string | Uint8Array<ArrayBuffer>);
    }
    const ask: Ask = request.method === "POST" ? await request.json() : {};
    if (ask.at !== undefined) clock = ask.at ?? undefined;
    switch (pathname) {
      case "/run": {
        const client = new HotKV({ binding: env.TIDEGATE, ...ask.options });
        const replies = await client.pipeline(ask.commands ?? []);
        return Response.json(replies.map(shown));
      }
      case "/typed": {
        const stub = env.TIDEGATE.get(env.TIDEGATE.idFromName(ask.object ?? "")) as unknown as TestObject;
        const [call, first = "", second = ""] = ask.typed ?? [];
        const answer = call === "gcraLimit" ? stub.gcraLimit(first) : stub.rateLimitCheck(first, second);
        return Response.json(await answer);
      }
      case "/parallel": {
        const client = new HotKV({ binding: env.TIDEGATE, ...ask.options });
        const each = (ask.commands ?? []).map(([name, ...args]) =>
          client.command(name, ...args).catch((error) => error),
        );
        return Response.json((await Promise.all(each)).map(shown));
      }
      case "/reopen":
        engines++;
        return new Response();
      case "/count": {
        const counted = { ...rows, calls: calls.count };
        Object.assign(rows, { read: 0, written: 0 });
        calls.count = 0;
        calls.delayMs = ask.delayMs ?? 0;
        return Response.json(counted);
      }
      case "/leftovers": {
        const id = env.TIDEGATE.idFromName(ask.object ?? "");
        const stub = env.TIDEGATE.get(id) as unknown as TestObject;
        return Response.json(await stub.leftovers());
      }
      case "/leftovers-of": {
        const left = { tables: 0, alarms: 0 };
        for (const object of ask.objects ?? []) {
          const stub = env.TIDEGATE.get(env.TIDEGATE.idFromName(object)) as unknown as TestObject;
          const { tables, alarm } = await stub.leftovers();
          left.tables += tables;
          if (alarm !== null) left.alarms++;
          if (left.tables + left.alarms > 0) break;
        }
        return Response.json(left);
      }
      case "/memory":
        return Response.json(memory().buffer.byteLength);
      case "/exhaust": {
        // All memory is taken, so the next call that needs some more ends in a real trap.
        const { buffer } = memory();
        memory().grow(65_536 - buffer.byteLength / 65_536);
        return Response.json(memory().buffer.byteLength);
      }
      case "/trap":
        trap = new RegExp(ask.query ?? "");
        return new Response();
      case "/limit": {
        const client = new HotKV({ binding: env.TIDEGATE, ...ask.options });
        const result = await client.gcraLimit("limited", 60_000, 10).catch((error: unknown) => error);
        return Response.json(result instanceof HotKVError ? shown(result) : result, undefined);
      }
      case "/shared":
        shared ??= new HotKV({ binding: env.TIDEGATE, namespace: "shared" });
        return Response.json(await shared.gcraLimit(ask.object ?? "", 3_600_000, 50));
      case "/job": {
        const store = new HotKV({ binding: env.TIDEGATE, ...ask.options });
        const rate = { limit: 1000, interval: "1s", burst: 1000 } as const;
        const valve = new Valve({ store, namespace: "jobs", rate, concurrency: { limit: 1, lease: "1h" } });
        return Response.json(await valve.run(() => "done", { maxWaitMs: 1000 }).catch(String));
      }
      case "/alarm": {
        const stub = env.TIDEGATE.get(env.TIDEGATE.idFromName(ask.object ?? "")) as unknown as TestObject;
        return Response.json(await stub.ring());
      }
      default:
        return new Response("ready");
    }
  },
};

/** The memory of the store's module, which is ready already. */
function memory(): WebAssembly.Memory {
  const exports: InitOutput = initSync({ module: new Uint8Array(0) });
  return exports.memory;
}

function shown(reply: Reply): unknown {
  if (reply instanceof HotKVError) return { error: reply.message, code: reply.code, retryable: reply.retryable };
  if (typeof reply === "bigint") return `${reply}n`;
  if (Array.isArray(reply)) return reply.map(shown);
  if (reply instanceof Map) return Object.fromEntries(reply);
  return reply;
}
