import type { DatabaseSync, StatementSync } from "node:sqlite";
import { invalidArgument } from "../arguments.ts";
import { clientClosed, HotKVError } from "../errors.ts";
import type { Command, Reply } from "../reply.ts";
import { decodeReplies } from "../resp/decode.ts";
import { encodeCommands } from "../resp/encode.ts";
import { Durable, type DurableOptions } from "../store/durable.ts";
import { type GatheringDatabase, setStoreSource } from "../store/module.ts";
import type { Transport } from "../transport.ts";

/** How a file's store is made. */
export interface FileOptions {
  readonly maxLimiters?: number | undefined;
  readonly clock?: (() => number) | undefined;
}

/** Rows looked at by one step of cleaning up, and how many calls there are between two steps. */
const SWEEP_ROWS = 256;
const SWEEP_EVERY = 128;
/** Keys held in memory: a process has more of it than a Durable Object. */
const CACHED_KEYS = 200_000;

/**
 * `file:PATH`: budgets in an SQLite database, which one process at a time has open. What was answered survives the process,
 * however it ends; a power cut may take the last moments.
 */
export class FileTransport implements Transport {
  readonly #clock: () => number;
  readonly #store: FileStore;
  #timer: NodeJS.Timeout | undefined;
  #calls = 0;
  #closed = false;

  constructor(path: string, options: FileOptions = {}) {
    this.#clock = options.clock ?? Date.now;
    this.#store = openFile(path, { maxLimiters: options.maxLimiters, cachedKeys: CACHED_KEYS });
  }

  async send(commands: readonly Command[]): Promise<readonly Reply[]> {
    if (this.#closed) throw clientClosed();
    const bytes = encodeCommands(commands);
    const now = this.#now();
    const { database, durable } = this.#store;
    try {
      // Before the commands, so that a failure of it spends nothing.
      if (++this.#calls % SWEEP_EVERY === 0) durable.sweep(now, SWEEP_ROWS);
      const replies = durable.feed(now, bytes);
      this.#saveDenialsInTime();
      return decodeReplies(replies);
    } catch (error) {
      database.rollBack();
      throw storeFailed(error);
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    closeFile(this.#store);
  }

  #now(): number {
    const now = this.#clock();
    if (Number.isSafeInteger(now) && now >= 0) return now;
    throw invalidArgument("clock", now, "a function that returns whole milliseconds since 1970");
  }

  #saveDenialsInTime(): void {
    if (this.#timer !== undefined || this.#store.durable.denialsDue() === undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      try {
        this.#store.durable.saveDenials();
      } catch {
        // The next call finds out, and opens anew.
      }
    }, 10_000);
    this.#timer.unref();
  }
}

/** A store in a file. */
export interface FileStore {
  readonly database: NodeDatabase;
  readonly durable: Durable;
}

/** Opens the store in a file, for this process alone, and readies the store's module. */
export function openFile(path: string, options: DurableOptions): FileStore {
  const { DatabaseSync } = sqlite();
  setStoreSource(readModule);
  const database = new NodeDatabase(opened(DatabaseSync, path));
  const durable = new Durable(database, options);
  try {
    durable.open();
  } catch (error) {
    database.close();
    throw unavailable(`can't use ${path}`, error);
  }
  return { database, durable };
}

/** Stores what is left to store, and lets go of the file in any case. */
export function closeFile({ database, durable }: FileStore): void {
  try {
    durable.close();
  } catch (error) {
    throw unavailable("the store is closed, and what was refused last is missing in its totals", error);
  } finally {
    database.close();
  }
}

/** What a caller is told of a call that the store failed in. */
export function storeFailed(cause: unknown): HotKVError {
  return unavailable("the store failed, and is opened anew by the next call", cause);
}

/** `node:sqlite` as the store calls it. */
export class NodeDatabase implements GatheringDatabase {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #grouped = false;
  /** Whether a transaction was begun and not ended: `node:sqlite` itself tells so from Node 22.16 on. */
  #begun = false;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  exec(query: string, ...bindings: readonly (number | string | Uint8Array | null)[]): { raw(): unknown[][] } {
    let statement = this.#statements.get(query);
    if (statement === undefined) {
      statement = this.#database.prepare(query);
      this.#statements.set(query, statement);
    }
    if (!query.startsWith("SELECT")) {
      statement.run(...bindings);
      return { raw: () => [] };
    }
    const rows = statement.all(...bindings);
    return { raw: () => rows.map((row) => Object.values(row)) };
  }

  begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    this.exec("BEGIN IMMEDIATE");
  }

  commit(): void {
    if (this.#grouped || !this.#begun) return;
    this.exec("COMMIT");
    this.#begun = false;
  }

  /** Runs `work`, all of whose commits become one at its end. */
  group<T>(work: () => T): T {
    let result: T;
    this.#grouped = true;
    try {
      result = work();
    } finally {
      this.#grouped = false;
    }
    this.commit();
    return result;
  }

  /** Undoes what a failed call left half done. */
  rollBack(): void {
    if (!this.#begun) return;
    this.#begun = false;
    try {
      this.exec("ROLLBACK");
    } catch {
      // SQLite has undone it already, as it does when the disk is full; if not, the next call can't begin, and tries this again.
    }
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }
}

/** The path in a `file:` URL: as it stands after `file:`, or an absolute one after `file://`. */
export function filePath(url: string): string {
  let path: string | undefined = url.slice("file:".length);
  if (url.startsWith("file://")) path = pathIn(url);
  if (path === undefined || path === "") throw invalidArgument("url", url, "file: and a path");
  return path;
}

/** The path that a URL spells; `undefined` when it spells none. */
function pathIn(url: string): string | undefined {
  try {
    return decodeURIComponent(new URL(url).pathname);
  } catch {
    return undefined;
  }
}

function sqlite(): typeof import("node:sqlite") {
  const found = builtin("node:sqlite");
  if (found !== undefined) return found as typeof import("node:sqlite");
  throw new HotKVError(
    "STORE_UNAVAILABLE",
    "file: needs node:sqlite, which this runtime does not have; Node has it from 22.13 on, and Deno from 2.2 on",
  );
}

/** A module of the runtime itself, when it has it: nothing that a bundler for browsers would look for. */
function builtin(name: string): unknown {
  const emit = globalThis.process?.emitWarning;
  try {
    // That node:sqlite is new is nothing the user of this package can do anything about.
    if (emit !== undefined) globalThis.process.emitWarning = () => {};
    return globalThis.process?.getBuiltinModule?.(name as "node:sqlite");
  } catch {
    return undefined;
  } finally {
    if (emit !== undefined) globalThis.process.emitWarning = emit;
  }
}

function readModule(): Uint8Array<ArrayBuffer> {
  const { readFileSync } = builtin("node:fs") as typeof import("node:fs");
  const path = "../../wasm/store_bg.wasm";
  return readFileSync(new URL(path, import.meta.url));
}

/** Opens the database for this process alone. */
function opened(Database: typeof DatabaseSync, path: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new Database(path);
    // An exclusive lock keeps a second process out; its answers would not know of this one's.
    database.exec("PRAGMA locking_mode = EXCLUSIVE");
    database.exec("PRAGMA journal_mode = WAL");
    database.exec("PRAGMA synchronous = NORMAL");
    database.exec("BEGIN IMMEDIATE; COMMIT");
    return database;
  } catch (error) {
    database?.close();
    const locked = error instanceof Error && /locked|busy/i.test(error.message);
    if (!locked) throw unavailable(`can't open ${path}`, error);
    throw new HotKVError(
      "STORE_UNAVAILABLE",
      `${path} is open already: one client at a time can have it, so that no two decide by themselves; serve it with tidegate serve, or close the other one`,
      { cause: error, retryable: true },
    );
  }
}

function unavailable(what: string, cause: unknown): HotKVError {
  if (cause instanceof HotKVError) return cause;
  const why = cause instanceof Error ? cause.message : String(cause);
  // A file that is damaged, or that this version can't read, which the store says by a text, stays so.
  const retryable = typeof cause !== "string" && !/malformed|not a database/.test(why);
  return new HotKVError("STORE_UNAVAILABLE", `${what}: ${why}`, { cause, retryable });
}
