import { assertFields } from "../arguments.ts";
import { commandCounts, Engine } from "../engine.ts";
import { storeMemoryBytes } from "../store/module.ts";
import { closeFile, openFile, storeFailed } from "../transports/file.ts";
import type { Host } from "./host.ts";

/** What a host is opened with. */
export interface HostOptions {
  /** The file that limits are kept in; in memory alone when left out. */
  readonly path?: string;
  /** The most keys in memory: with a file, those held there as well; without one, all there can be. */
  readonly maxKeys?: number;
  /** The time, for tests; a server's clock is the machine's. */
  readonly clock?: () => number;
}

/** An engine as a server needs it. */
export function openHost(options: HostOptions): Host {
  assertFields(options, ["path", "maxKeys", "clock"]);
  const { path, ...rest } = options;
  return path === undefined ? memoryHost(rest) : fileHost(path, rest);
}

function memoryHost(options: HostOptions): Host {
  const engine = new Engine(options);
  return {
    openSession: (options) => engine.openSession(options),
    commit: (work) => work(),
    stats: () => engine.stats(),
    close: () => engine.close(),
  };
}

/** Rows looked at by each step of cleaning up, and how many commits there are between two steps. */
const SWEEP_ROWS = 256;
const SWEEP_EVERY = 64;
/** How often the totals of refused units are written. */
const SAVE_MS = 5000;

function fileHost(path: string, { maxKeys = 1_000_000, clock = Date.now }: HostOptions): Host {
  const file = openFile(path, { cachedKeys: maxKeys });
  const { database, durable: store } = file;
  let clients = 0;
  let commits = 0;
  const commit = <T>(work: () => T): T => {
    try {
      return database.group(() => {
        const result = work();
        if (++commits % SWEEP_EVERY === 0) store.sweep(clock(), SWEEP_ROWS);
        return result;
      });
    } catch (error) {
      // What was decided and not written must not be remembered: the next call reads the file anew.
      database.rollBack();
      store.drop();
      throw storeFailed(error);
    }
  };
  const saving = setInterval(() => {
    try {
      commit(() => store.saveDenials());
    } catch {
      // The next command finds out, and says so.
    }
  }, SAVE_MS);
  saving.unref();
  return {
    openSession({ password }) {
      const client = store.openClient(++clients, password);
      return {
        feed: (bytes) => client.feed(clock(), bytes),
        get flow() {
          return client.flow;
        },
        close: () => client.close(),
      };
    },
    commit,
    stats() {
      try {
        const { counters, records } = store.figures();
        return { commands: commandCounts(counters), records, memoryBytes: storeMemoryBytes() };
      } catch (error) {
        throw storeFailed(error);
      }
    },
    close() {
      clearInterval(saving);
      closeFile(file);
    },
  };
}
