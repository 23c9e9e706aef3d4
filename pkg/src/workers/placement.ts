import { utf8Length } from "../arguments.ts";
import type { Argument } from "../reply.ts";

/*
 * Which Durable Object holds what. A name says what kind of thing it holds, in which namespace, and which one, so that no two
 * of them ever share an object by accident:
 *
 *   key:NAMESPACE:TAG  slot:NAMESPACE:NUMBER  limiter:NAMESPACE:NAME  policy:NAMESPACE:NAME  directory:NAMESPACE
 */

/** How keys are spread over objects: one object for each hash tag, or one for each of 16,384 slots. */
export type Placement = "tag" | "slot";

/** What an object is for. */
export type Kind = "key" | "slot" | "limiter" | "policy" | "directory";

const MAX_NAME_BYTES = 512;
const SLOTS = 16_384;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** An argument as text; bytes that are no UTF-8 as `undefined`. */
export function textOf(argument: Argument): string | undefined {
  if (!(argument instanceof Uint8Array)) return String(argument);
  try {
    return decoder.decode(argument);
  } catch {
    return undefined;
  }
}

/** The name of the object that holds `key`. */
export function keyObject(namespace: string, key: Argument, placement: Placement): string {
  if (placement === "slot") {
    const bytes = key instanceof Uint8Array ? key : encoder.encode(String(key));
    return objectName("slot", namespace, String(slotOf(tagOfBytes(bytes))));
  }
  const text = textOf(key);
  return objectName("key", namespace, text === undefined ? hex(tagOfBytes(key as Uint8Array)) : tagOf(text));
}

/** The name of the object that holds the limiter or policy called `name`. */
export function namedObject(kind: "limiter" | "policy", namespace: string, name: Argument): string {
  return objectName(kind, namespace, textOf(name) ?? hex(name as Uint8Array));
}

/** The name of the object that knows the namespace's limiters. */
export function directoryObject(namespace: string): string {
  return `directory:${encodeURIComponent(namespace)}`;
}

/** A name that the platform takes: one over 512 bytes is replaced by its SHA-256. */
export function shortened(name: string): string | Promise<string> {
  return name.length * 3 <= MAX_NAME_BYTES || utf8Length(name) <= MAX_NAME_BYTES ? name : digested(name);
}

async function digested(name: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", encoder.encode(name));
  return `sha256:${hex(new Uint8Array(digest)).slice(1)}`;
}

/** What HotKV hashes of a key: what is between the first `{` and the next `}`, or all of it where there is nothing. */
export function tagOf(key: string): string {
  const open = key.indexOf("{");
  const close = open < 0 ? -1 : key.indexOf("}", open + 1);
  return close > open + 1 ? key.slice(open + 1, close) : key;
}

/** HotKV's cluster slot of a tag: CRC-16/XMODEM of its bytes, modulo 16,384. */
export function slotOf(tag: Uint8Array): number {
  let crc = 0;
  for (const byte of tag) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
    crc &= 0xffff;
  }
  return crc % SLOTS;
}

function tagOfBytes(key: Uint8Array): Uint8Array {
  const open = key.indexOf(0x7b);
  const close = open < 0 ? -1 : key.indexOf(0x7d, open + 1);
  return close > open + 1 ? key.subarray(open + 1, close) : key;
}

function objectName(kind: Kind, namespace: string, rest: string): string {
  return `${kind}:${encodeURIComponent(namespace)}:${rest}`;
}

/** Bytes that are no text, with a byte in front that no text begins with: they are never taken for some. */
function hex(bytes: Uint8Array): string {
  let text = "\0";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
}
