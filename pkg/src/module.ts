import * as glue from "../wasm/tidegate.js";
import { assertName, invalidArgument, isWellFormed, loneSurrogate, MAX_NAME_BYTES, tooLong } from "./arguments.ts";
import { HotKVError } from "./errors.ts";
import type { GcraLimitManyResult } from "./results.ts";

/*
 * The WebAssembly module, instantiated when the first engine is made, and the buffers it shares with JavaScript. A key is
 * written straight into wasm memory and a decision's numbers are read straight out of it, so the usual path makes no
 * object but its result. Growing memory empties every view of it; `refresh` makes new ones.
 */

/** How many keys one batch call takes. */
export const BATCH_KEYS = 1024;
/** How many bytes the keys of one batch call may have. */
export const BATCH_BYTES = 1 << 16;
/** Numbers of one decision. */
export const FIELDS = 4;

/** The decisions' numbers: of the last call, or row after row of the last batch. */
export let numbers = new Float64Array(0);
/** The keys of a batch, one after the other. */
export let batchKeys = new Uint8Array(0);
/** The length in bytes of each key of a batch. */
export let batchLengths = new Uint32Array(0);

let keyWords = new Int32Array(0);
let keyBytes = new Uint8Array(0);
let nameWords = new Int32Array(0);
let nameBytes = new Uint8Array(0);
/** The name that the name buffer holds, and its length in bytes. */
let writtenName: string | undefined;
let writtenNameBytes = 0;

/** The classes of the module. Call {@link ensureReady} before making one. */
export const { Core, Simulation } = glue;
export type Core = glue.Core;
export type Simulation = glue.Simulation;

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

/** Makes the module ready. */
export function ensureReady(): void {
  if (exports !== undefined) return;
  if (source === undefined) {
    throw new HotKVError(
      "UNAVAILABLE",
      "the WebAssembly module is not loaded yet: await init() from tidegate/web first",
    );
  }
  instantiate(source());
}

/** Renews the views when memory has grown since they were made. */
export function refresh(): void {
  if (numbers.length !== 0 || exports === undefined) return;
  const { buffer } = exports.memory;
  const [numbersAt, lengthsAt, keyAt, nameAt, keysAt] = [0, 1, 2, 3, 4].map(glue.bufferAddress) as Five;
  const nameBufferBytes = MAX_NAME_BYTES + 4;
  numbers = new Float64Array(buffer, numbersAt, BATCH_KEYS * FIELDS);
  batchLengths = new Uint32Array(buffer, lengthsAt, BATCH_KEYS);
  keyBytes = new Uint8Array(buffer, keyAt, nameBufferBytes);
  keyWords = new Int32Array(buffer, keyAt, nameBufferBytes >> 2);
  nameBytes = new Uint8Array(buffer, nameAt, nameBufferBytes);
  nameWords = new Int32Array(buffer, nameAt, nameBufferBytes >> 2);
  batchKeys = new Uint8Array(buffer, keysAt, BATCH_BYTES);
}

type Five = [number, number, number, number, number];

/** Writes a key for the next call; its length in bytes. */
export function writeKey(argument: string, key: string): number {
  if (typeof key !== "string") throw invalidArgument(argument, key, "text");
  if (keyWords.length === 0) refresh();
  const bytes = writeAscii(key, keyWords);
  return bytes < 0 ? writeUtf8(argument, key, keyBytes) : bytes;
}

/** Writes a limiter's name for the next call; its length in bytes. The same name again is still there. */
export function writeName(argument: string, name: string): number {
  if (typeof name !== "string") throw invalidArgument(argument, name, "text");
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
  core: glue.Core,
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
  // All keys are checked before any is decided: a wrong one spends nothing.
  for (const key of keys) assertName("keys", key);
  for (let done = 0; done < total; ) {
    const taken = writeBatch(keys, done);
    let decided: number;
    try {
      decided = core.gcraLimitMany(now, taken, period, burst, count);
    } catch (error) {
      throw callFailed(error);
    }
    if (numbers.length === 0) refresh();
    for (let row = 0, at = 0; row < decided; row++, at += FIELDS) {
      const index = done + row;
      result.remaining[index] = numbers[at] as number;
      result.retryAfterMs[index] = numbers[at + 1] as number;
      result.resetAfterMs[index] = numbers[at + 2] as number;
      result.denied[index] = numbers[at + 3] as number;
    }
    if (decided < taken) throw HotKVError.fromReply(core.takeError());
    done += taken;
  }
  return result;
}

/** Writes the keys from index `from` that the buffers hold; how many. */
function writeBatch(keys: readonly string[], from: number): number {
  if (batchKeys.length === 0) refresh();
  let taken = 0;
  for (let at = 0; taken < BATCH_KEYS && from + taken < keys.length; taken++) {
    const key = keys[from + taken] as string;
    // A key is at most three bytes a character.
    if (at + key.length * 3 > BATCH_BYTES) break;
    const { written } = encoder.encodeInto(key, batchKeys.subarray(at));
    batchLengths[taken] = written;
    at += written;
  }
  return taken;
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
  if (!isWellFormed(text)) throw loneSurrogate(argument, text);
  const { read, written } = encoder.encodeInto(text, into);
  if (read < text.length || written > MAX_NAME_BYTES) throw tooLong(argument, text);
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
    numbers = new Float64Array(0);
    writtenName = undefined;
    refresh();
  }
  return new HotKVError("LOST", "the engine's WebAssembly instance failed and its state is gone; make a new Engine", {
    cause: error,
  });
}
