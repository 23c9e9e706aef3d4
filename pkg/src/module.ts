import * as glue from "../wasm/tidegate.js";
import { assertName, invalidArgument, MAX_NAME_BYTES, NAME, utf8Length } from "./arguments.ts";
import { HotKVError } from "./errors.ts";
import type { GcraLimitManyResult } from "./results.ts";

/*
 * The WebAssembly module, instantiated when the first engine is made, and the buffers it shares with JavaScript. A key is
 * written straight into wasm memory and a decision's numbers are read straight out of it, so the usual path makes no
 * object but its result. Growing memory empties every view of it; `refresh` makes new ones.
 */

/** How many decisions one batch call makes. */
export const BATCH = 512;
/** How many bytes the keys of one batch call may have. */
const BATCH_BYTES = 1 << 15;
/** Numbers of one decision. */
const FIELDS = 4;
/** Numbers of one decision of a batch. */
const COLUMNS = 5 + 16;
/** Counts of commands: of five kinds, each by three outcomes. */
const COUNTS = 5 * 3;
/** Bytes of the buffers for one key and one name. */
const NAME_BUFFER_BYTES = MAX_NAME_BYTES + 4;

/** The last decision's numbers. */
export let numbers = new Float64Array(0);

let keyBytes = new Uint8Array(0);
let keyWords = new Int32Array(0);
let nameBytes = new Uint8Array(0);
let nameWords = new Int32Array(0);
/** The name that the name buffer holds, and its length in bytes. */
let writtenName: string | undefined;
let writtenNameBytes = 0;

/** The keys of a batch, one after the other, and their lengths in bytes. */
let batchKeys = new Uint8Array(0);
let batchLengths = new Uint32Array(0);
/** The numbers of a batch's decisions: a column each. */
let batchColumns = new Float64Array(0);

/** Something in wasm memory: its number there, and the instance of the module that it is in. */
interface Held {
  readonly at: number;
  readonly instance: number;
}
/** An engine in wasm memory. */
export type Core = Held;
/** A client's session in wasm memory. */
export type Connection = Held;

/** Which instance of the module is alive: counted up by each trap. */
export let instance = 0;

/** Frees what was dropped without being closed, where the runtime says so. */
const dropped =
  typeof FinalizationRegistry === "undefined"
    ? undefined
    : new FinalizationRegistry<Held>((held) => {
        if (held.instance === instance) glue.close(held.at);
      });

/** How many sessions were opened: their ids. */
let connections = 0;

type Source = () => WebAssembly.Module | BufferSource;
let source: Source | undefined;
let exports: glue.InitOutput | undefined;

const encoder = new TextEncoder();

/** Says where this runtime has the module; the entry points do. */
export function setSource(from: Source): void {
  source ??= from;
}

/** Makes the module ready ahead of time from what the caller compiled or fetched. */
export function instantiate(module: WebAssembly.Module | BufferSource): void {
  if (exports !== undefined) return;
  exports = glue.initSync({ module });
  refresh();
}

/** Whether an engine can be made at once. */
export function isReady(): boolean {
  return exports !== undefined;
}

/** Makes the module ready. */
export function ensureReady(): void {
  if (exports !== undefined) return;
  if (source === undefined) {
    throw new HotKVError(
      "STORE_UNAVAILABLE",
      "the WebAssembly module is not loaded yet: await init() from tidegate/web first",
    );
  }
  instantiate(source());
}

/** Sixteen bytes nobody can guess, so that nobody can choose keys that collide. */
function randomSeed(): DataView {
  try {
    return new DataView(crypto.getRandomValues(new Uint8Array(16)).buffer);
  } catch {
    throw new HotKVError(
      "STORE_UNAVAILABLE",
      "no engine can be made here: this runtime gives no random numbers at this point",
    );
  }
}

/** Makes an engine in wasm memory. */
export function makeCore(maxKeys: number, maxLimiters: number): Core {
  ensureReady();
  const seed = randomSeed();
  const core = hold(() => glue.openCore(maxKeys, maxLimiters, seed.getBigUint64(0), seed.getBigUint64(8)));
  refresh();
  return core;
}

/** Opens a session beside the engines; with a password, the client must send that first. */
export function makeConnection(password?: string): Connection {
  return hold(() => glue.openConnection(++connections, password));
}

function hold(open: () => number): Held {
  try {
    const held = { at: open(), instance };
    dropped?.register(held, { ...held }, held);
    return held;
  } catch (error) {
    throw callFailed(error);
  }
}

/** Frees memory, unless it went with its instance. */
export function free(held: Held): void {
  dropped?.unregister(held);
  if (held.instance === instance) glue.close(held.at);
}

/** What to do once a session's replies are sent, as a number; -1, close, when it went with its instance. */
export function flowNumber(connection: Connection): number {
  return connection.instance === instance ? glue.flow(connection.at) : -1;
}

/** Takes RESP bytes of a client; the replies to the commands that they complete. */
export function feed(core: Core, connection: Connection, now: number, bytes: Uint8Array): Uint8Array {
  if (connection.instance !== instance) throw gone();
  try {
    return glue.feed(core.at, connection.at, now, bytes);
  } catch (error) {
    throw callFailed(error);
  }
}

/** Runs `use` on an engine that simulates and nothing else. */
export function withSimulation<T>(use: (core: Core) => T): T {
  ensureReady();
  // Nobody chooses keys here, so the seed is no secret.
  const core = hold(() => glue.openCore(Number.POSITIVE_INFINITY, 0, 0n, 0n));
  try {
    return use(core);
  } catch (error) {
    throw callFailed(error);
  } finally {
    free(core);
  }
}

/** How many records an engine has, and its counts of commands. */
export function stats(core: Core): Float64Array {
  glue.stats(core.at);
  return column(0, 1 + COUNTS);
}

/** What went wrong in the last call on the engine that failed. */
export function lastError(core: Core): HotKVError {
  return HotKVError.fromReply(glue.takeError(core.at));
}

/** How much memory the module has, in bytes: all engines together. */
export function memoryBytes(): number {
  return exports?.memory.buffer.byteLength ?? 0;
}

/** Renews the views when memory has grown since they were made. */
export function refresh(): void {
  if (numbers.length !== 0 || exports === undefined) return;
  const { buffer } = exports.memory;
  const at = glue.bufferAddress;
  numbers = new Float64Array(buffer, at(0), FIELDS);
  keyBytes = new Uint8Array(buffer, at(1), NAME_BUFFER_BYTES);
  keyWords = new Int32Array(buffer, at(1), NAME_BUFFER_BYTES >> 2);
  nameBytes = new Uint8Array(buffer, at(2), NAME_BUFFER_BYTES);
  nameWords = new Int32Array(buffer, at(2), NAME_BUFFER_BYTES >> 2);
  batchKeys = new Uint8Array(buffer, at(3), BATCH_BYTES);
  batchLengths = new Uint32Array(buffer, at(4), BATCH);
  batchColumns = new Float64Array(buffer, at(5), BATCH * COLUMNS);
}

/** Writes a key for the next call; its length in bytes. */
export function writeKey(argument: string, key: string): number {
  if (typeof key !== "string") throw invalidArgument(argument, key, NAME);
  if (keyWords.length === 0) refresh();
  const bytes = writeAscii(key, keyWords);
  return bytes < 0 ? writeUtf8(argument, key, keyBytes) : bytes;
}

/** Writes a limiter's name for the next call; its length in bytes. The same name again is still there. */
export function writeName(argument: string, name: string): number {
  if (typeof name !== "string") throw invalidArgument(argument, name, NAME);
  if (nameWords.length === 0) refresh();
  if (name === writtenName) return writtenNameBytes;
  writtenName = undefined;
  const bytes = writeAscii(name, nameWords);
  writtenNameBytes = bytes < 0 ? writeUtf8(argument, name, nameBytes) : bytes;
  writtenName = name;
  return writtenNameBytes;
}

/** Decides many keys with one rule, as many in a call into wasm as its buffers hold. */
export function decideMany(
  core: Core,
  now: number,
  keys: readonly string[],
  period: number,
  burst: number,
  count: number,
): GcraLimitManyResult {
  const total = keys.length;
  const result = {
    denied: new Uint8Array(total),
    remaining: new Float64Array(total),
    retryAfterMs: new Float64Array(total),
    resetAfterMs: new Float64Array(total),
  };
  // Every key is checked before the first is decided, so that a wrong one spends nothing on any.
  const lengths = new Uint32Array(total);
  const chunks: Chunk[] = [];
  for (let from = 0; from < total; from = chunks.at(-1)?.end ?? total) chunks.push(joined(keys, from, lengths));
  let from = 0;
  for (const { text, end } of chunks) {
    writeChunk(text, keys, lengths, from, end);
    let decided: number;
    try {
      decided = glue.gcraLimitMany(core.at, now, end - from, period, burst, count);
    } catch (error) {
      throw callFailed(error);
    }
    if (numbers.length === 0) refresh();
    result.remaining.set(column(0, decided), from);
    result.retryAfterMs.set(column(1, decided), from);
    result.resetAfterMs.set(column(2, decided), from);
    result.denied.set(column(3, decided), from);
    if (decided < end - from) throw lastError(core);
    from = end;
  }
  return result;
}

/** Keys that are decided in one call: one text of all of them, and the index after the last. */
interface Chunk {
  readonly text: string;
  readonly end: number;
}

/** Checks and joins as many keys from index `from` on as the buffers hold, and notes their lengths in UTF-16. */
function joined(keys: readonly string[], from: number, lengths: Uint32Array): Chunk {
  const most = Math.min(keys.length, from + BATCH);
  let text = "";
  let end = from;
  for (; end < most; end++) {
    const key = keys[end] as string;
    if (typeof key !== "string" || key.length * 3 > MAX_NAME_BYTES) assertName(`keys[${end}]`, key);
    const { length } = key;
    // A character is at most three bytes.
    if ((text.length + length) * 3 > BATCH_BYTES) break;
    // The next key could make half a character at the end of this one look whole in the text of all.
    if ((key.charCodeAt(length - 1) & 0xfc00) === 0xd800) assertName(`keys[${end}]`, key);
    text += key;
    lengths[end] = length;
  }
  if (!text.isWellFormed()) for (let index = from; index < end; index++) assertName(`keys[${index}]`, keys[index]);
  return { text, end };
}

/** Writes the keys from index `from` to `end`, whose text and lengths these are, for the next call. */
function writeChunk(text: string, keys: readonly string[], lengths: Uint32Array, from: number, end: number): void {
  if (batchKeys.length === 0) refresh();
  batchLengths.set(lengths.subarray(from, end));
  // One text of all, encoded in one go, is three times as fast as key by key. Only ASCII takes a byte a unit.
  if (encoder.encodeInto(text, batchKeys).written === text.length) return;
  for (let index = from; index < end; index++) batchLengths[index - from] = utf8Length(keys[index] ?? "");
}

/** The first `count` numbers of one column of the last batch: a view that the next call writes to. */
export function column(index: number, count: number): Float64Array {
  if (batchColumns.length === 0) refresh();
  return batchColumns.subarray(index * BATCH, index * BATCH + count);
}

/** Writes text four characters at a time; its length, or -1 when it is not ASCII or too long. */
function writeAscii(text: string, words: Int32Array): number {
  const { length } = text;
  if (length > MAX_NAME_BYTES) return -1;
  const whole = length & ~3;
  let codes = 0;
  let word = 0;
  let at = 0;
  for (; at < whole; at += 4, word++) {
    const a = text.charCodeAt(at);
    const b = text.charCodeAt(at + 1);
    const c = text.charCodeAt(at + 2);
    const d = text.charCodeAt(at + 3);
    codes |= a | b | c | d;
    words[word] = a | (b << 8) | (c << 16) | (d << 24);
  }
  if (at < length) {
    let last = 0;
    for (let shift = 0; at < length; at++, shift += 8) {
      const code = text.charCodeAt(at);
      codes |= code;
      last |= code << shift;
    }
    words[word] = last;
  }
  return codes < 0x80 ? length : -1;
}

function writeUtf8(argument: string, text: string, into: Uint8Array): number {
  const { read, written } = encoder.encodeInto(text, into);
  if (read < text.length || written > MAX_NAME_BYTES || !text.isWellFormed()) {
    throw invalidArgument(argument, text, NAME);
  }
  return written;
}

/**
 * What to throw when a call into the module threw `error`. A trap (the only one possible is running out of memory) ends
 * the instance with every engine in it: the next engine gets a fresh one, these say what happened.
 */
export function callFailed(error: unknown): unknown {
  if (error instanceof HotKVError) return error;
  if (error instanceof WebAssembly.RuntimeError) {
    glue.__wbg_reset_state();
    // A module that is ready is returned as it is: this asks for the new instance's exports.
    exports = glue.initSync({ module: new Uint8Array(0) });
    instance++;
    numbers = new Float64Array(0);
    writtenName = undefined;
    refresh();
  }
  return gone(error);
}

/** What to throw of an engine that went with its instance. */
export function gone(cause?: unknown): HotKVError {
  return new HotKVError("LOST", "the engine's WebAssembly instance failed and its state is gone; make a new Engine", {
    cause,
  });
}
