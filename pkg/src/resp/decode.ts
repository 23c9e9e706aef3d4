import { HotKVError } from "../errors.ts";
import type { Reply } from "../reply.ts";
import { encodeText } from "./encode.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const CR = 13;
/** Replies nest no deeper than this. */
const MAX_DEPTH = 32;

/** Turns whole RESP2 and RESP3 bytes into replies. */
class ReplyReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  all(): Reply[] {
    const replies: Reply[] = [];
    while (this.#at < this.#bytes.length) replies.push(this.#reply(0));
    return replies;
  }

  #reply(depth: number): Reply {
    const kind = this.#bytes[this.#at];
    const line = this.#line();
    switch (kind) {
      case 0x2b: // +
        return line;
      case 0x2d: // -
        return HotKVError.fromReply(line);
      case 0x3a: // :
      case 0x28: // (
        return integer(line);
      case 0x2c: // ,
        return Number(line.replace("inf", "Infinity"));
      case 0x23: // #
        return line === "t";
      case 0x5f: // _
        return null;
      case 0x24: // $
      case 0x21: // !
      case 0x3d: {
        // = with a three-letter format and a colon in front
        const bytes = length(line);
        if (bytes < 0) return null;
        const text = this.#text(this.#at, this.#at + bytes);
        if (kind === 0x21) return HotKVError.fromReply(text);
        return kind === 0x3d ? text.slice(4) : text;
      }
      case 0x2a: // *
      case 0x7e: // ~
      case 0x3e: // >
        return this.#array(length(line), depth);
      case 0x25: // %
        return mapOf(this.#array(length(line) * 2, depth) ?? []);
      default:
        throw protocolError(`a reply can't begin with byte ${kind}`);
    }
  }

  /** The text between the kind and the line's end. */
  #line(): string {
    const end = this.#bytes.indexOf(CR, this.#at);
    return this.#text(this.#at + 1, end < 0 ? this.#bytes.length : end);
  }

  /** The text from `start` to `end` and past the line's end that follows. */
  #text(start: number, end: number): string {
    if (end + 2 > this.#bytes.length) throw protocolError("a reply is cut off");
    this.#at = end + 2;
    return decoder.decode(this.#bytes.subarray(start, end));
  }

  #array(count: number, depth: number): Reply[] | null {
    if (count < 0) return null;
    if (depth >= MAX_DEPTH) throw protocolError("a reply is nested too deep");
    const replies: Reply[] = [];
    for (let index = 0; index < count; index++) replies.push(this.#reply(depth + 1));
    return replies;
  }
}

/** The map that a flat array of names and values stands for. */
export function mapOf(flat: readonly Reply[]): Map<Reply, Reply> {
  const map = new Map<Reply, Reply>();
  for (let index = 0; index + 1 < flat.length; index += 2) map.set(flat[index] ?? null, flat[index + 1] ?? null);
  return map;
}

/** The replies in whole bytes. */
export function decodeReplies(bytes: Uint8Array): Reply[] {
  return new ReplyReader(bytes).all();
}

/** The replies in whole RESP text. */
export function decodeText(text: string): Reply[] {
  return decodeDecisions(text) ?? decodeReplies(encodeText(text));
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

/** The integer that a reply's digits spell. */
export function integer(text: string): number | bigint {
  if (!/^[+-]?\d+$/.test(text)) throw protocolError(`${JSON.stringify(text)} is not an integer`);
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}

function length(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < -1) throw protocolError(`${JSON.stringify(text)} is not a length`);
  return value;
}

function protocolError(what: string): HotKVError {
  return new HotKVError("STORE_UNAVAILABLE", `the store's answer is not RESP: ${what}`);
}
