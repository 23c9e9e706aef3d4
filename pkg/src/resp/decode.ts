import { HotKVError } from "../errors.ts";
import type { Reply } from "../reply.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();
const CR = 13;
/** Replies nest no deeper than this. */
const MAX_DEPTH = 32;

/** What is not there yet. */
const MORE = Symbol("more");

/** Turns RESP2 and RESP3 bytes, whole or cut anywhere, into replies. */
export class ReplyDecoder {
  #bytes = new Uint8Array(0);
  #at = 0;

  /** Takes more bytes; returns the replies that are complete now, in order. */
  push(bytes: Uint8Array): Reply[] {
    const rest = this.#bytes.subarray(this.#at);
    if (rest.length === 0) {
      this.#bytes = bytes as Uint8Array<ArrayBuffer>;
    } else {
      const joined = new Uint8Array(rest.length + bytes.length);
      joined.set(rest);
      joined.set(bytes, rest.length);
      this.#bytes = joined;
    }
    this.#at = 0;
    const replies: Reply[] = [];
    while (this.#at < this.#bytes.length) {
      const start = this.#at;
      const reply = this.#reply(0);
      if (reply === MORE) {
        this.#at = start;
        break;
      }
      replies.push(reply);
    }
    return replies;
  }

  /** Whether a reply is begun and not complete. */
  get pending(): boolean {
    return this.#at < this.#bytes.length;
  }

  #reply(depth: number): Reply | typeof MORE {
    const kind = this.#bytes[this.#at];
    const line = this.#line();
    if (line === MORE) return MORE;
    switch (kind) {
      case 0x2b: // +
      case 0x28: // (
        return kind === 0x28 ? integer(line) : line;
      case 0x2d: // -
        return HotKVError.fromReply(line);
      case 0x3a: // :
        return integer(line);
      case 0x2c: // ,
        return double(line);
      case 0x23: // #
        return line === "t";
      case 0x5f: // _
        return null;
      case 0x24: // $
        return this.#bulk(line);
      case 0x21: {
        // !
        const text = this.#bulk(line);
        return typeof text === "string" ? HotKVError.fromReply(text) : text;
      }
      case 0x3d: {
        // = with a three-letter format and a colon in front
        const text = this.#bulk(line);
        return typeof text === "string" ? text.slice(4) : text;
      }
      case 0x2a: // *
      case 0x7e: // ~
      case 0x3e: // >
        return this.#array(length(line), depth);
      case 0x25: // %
        return this.#map(length(line), depth);
      default:
        throw protocolError(`a reply can't begin with byte ${kind}`);
    }
  }

  /** The text between the kind and the line's end. */
  #line(): string | typeof MORE {
    const end = this.#bytes.indexOf(CR, this.#at);
    if (end < 0 || end + 1 >= this.#bytes.length) return MORE;
    const text = decoder.decode(this.#bytes.subarray(this.#at + 1, end));
    this.#at = end + 2;
    return text;
  }

  #bulk(line: string): string | null | typeof MORE {
    const bytes = length(line);
    if (bytes < 0) return null;
    if (this.#at + bytes + 2 > this.#bytes.length) return MORE;
    const text = decoder.decode(this.#bytes.subarray(this.#at, this.#at + bytes));
    this.#at += bytes + 2;
    return text;
  }

  #array(count: number, depth: number): Reply[] | null | typeof MORE {
    if (count < 0) return null;
    if (depth >= MAX_DEPTH) throw protocolError("a reply is nested too deep");
    const replies: Reply[] = [];
    for (let index = 0; index < count; index++) {
      const reply = this.#at < this.#bytes.length ? this.#reply(depth + 1) : MORE;
      if (reply === MORE) return MORE;
      replies.push(reply);
    }
    return replies;
  }

  #map(count: number, depth: number): Reply | typeof MORE {
    const flat = this.#array(count * 2, depth);
    if (flat === MORE || flat === null) return flat;
    const map = new Map<Reply, Reply>();
    for (let index = 0; index + 1 < flat.length; index += 2) map.set(flat[index] ?? null, flat[index + 1] ?? null);
    return map;
  }
}

/** The replies in whole bytes. */
export function decodeReplies(bytes: Uint8Array): Reply[] {
  const replies = new ReplyDecoder();
  const decoded = replies.push(bytes);
  if (replies.pending) throw protocolError("a reply is cut off");
  return decoded;
}

/** The replies in whole RESP text. */
export function decodeText(text: string): Reply[] {
  return decodeDecisions(text) ?? decodeReplies(encoder.encode(text));
}

/** The replies when all are decisions, arrays of small integers; `undefined` when any is something else. */
function decodeDecisions(text: string): Reply[] | undefined {
  const replies: Reply[] = [];
  for (let at = 0; at < text.length; ) {
    const count = text.charCodeAt(at + 1) - 48;
    if (text[at] !== "*" || count > 9 || text[at + 2] !== "\r") return undefined;
    at += 4;
    const integers: number[] = [];
    for (let index = 0; index < count; index++) {
      const end = text.indexOf("\r", at);
      // Up to 15 digits and a sign: a number holds those exactly.
      if (text[at] !== ":" || end < 0 || end - at > 16) return undefined;
      integers.push(Number(text.slice(at + 1, end)));
      at = end + 2;
    }
    replies.push(integers);
  }
  return replies;
}

function integer(text: string): number | bigint {
  if (!/^[+-]?\d+$/.test(text)) throw protocolError(`${JSON.stringify(text)} is not an integer`);
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}

function double(text: string): number {
  if (text === "inf") return Number.POSITIVE_INFINITY;
  if (text === "-inf") return Number.NEGATIVE_INFINITY;
  return Number(text);
}

function length(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < -1) throw protocolError(`${JSON.stringify(text)} is not a length`);
  return value;
}

function protocolError(what: string): HotKVError {
  return new HotKVError("STORE_UNAVAILABLE", `the store's answer is not RESP: ${what}`);
}
