import { invalidArgument } from "../arguments.ts";
import { HotKVError } from "../errors.ts";

/*
 * Client addresses as keys. An IPv6 customer is usually handed a whole /64, so one is one client; an IPv4 address mapped
 * into IPv6 is the same client as the bare one. A key is never the raw text of a header.
 */

/** Most addresses: IPv4 in its one spelling, or that mapped into IPv6 as sockets tell it. They are their own key. */
const IPV4 = /^(?:::ffff:)?((?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4})$/;

/** An address as a number of so many bits. */
interface Address {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

/**
 * The key of the client at `address`: IPv4 as it is, IPv6 by its first `prefix` bits.
 *
 * ```ts
 * import { addressKey } from "tidegate/fetch";
 *
 * console.log(addressKey("::ffff:1.2.3.4")); // 1.2.3.4
 * console.log(addressKey("2001:db8::1:2:3:4")); // 2001:db8:0:0::/64
 * ```
 *
 * @throws HotKVError with code `INVALID_ARGUMENT` when `address` is no IP address.
 */
export function addressKey(address: string, prefix = 64): string {
  assertPrefix("prefix", prefix);
  const plain = IPV4.exec(address)?.[1];
  if (plain !== undefined) return plain;
  const parsed = parseAddress(address);
  if (parsed === undefined) {
    throw new HotKVError("INVALID_ARGUMENT", `address must be an IPv4 or IPv6 address, not ${JSON.stringify(address)}`);
  }
  if (parsed.bits === 32) return ipv4(parsed.value);
  const groups: string[] = [];
  const network = (parsed.value >> BigInt(128 - prefix)) << BigInt(128 - prefix);
  for (let shift = 112; shift > 112 - prefix && shift >= 0; shift -= 16) {
    groups.push(((network >> BigInt(shift)) & 0xffffn).toString(16));
  }
  return `${groups.join(":")}${groups.length < 8 ? "::" : ""}/${prefix}`;
}

/** Throws unless so many leading bits can make one client. */
export function assertPrefix(argument: string, bits: unknown): void {
  if (!(Number.isInteger(bits) && (bits as number) >= 1 && (bits as number) <= 128))
    throw invalidArgument(argument, bits, "an integer from 1 to 128");
}

/** The address that `text` spells, an IPv4 one mapped into IPv6 unfolded; `undefined` when it is none. */
export function parseAddress(text: string): Address | undefined {
  const bare = text.replace(/%.*$/, "");
  if (!bare.includes(":")) {
    const value = parseIpv4(bare);
    return value === undefined ? undefined : { bits: 32, value };
  }
  const value = parseIpv6(bare);
  if (value === undefined) return undefined;
  return value >> 32n === 0xffffn ? { bits: 32, value: value & 0xffffffffn } : { bits: 128, value };
}

/** Networks whose members may say who they forward for: `["10.0.0.0/8", "::1"]`. */
export function networks(list: readonly string[]): (address: string) => boolean {
  if (!Array.isArray(list)) throw invalidArgument("proxies", list, "an array of addresses or networks");
  const parsed = list.map((text: unknown, index) => {
    // Digits alone: without any after the slash, a number would be 0, and everybody a proxy.
    const [, address, length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(typeof text === "string" ? text : "/") ?? [];
    const network = parseAddress(address ?? "");
    const bits = length === undefined ? network?.bits : Number(length);
    if (network === undefined || bits === undefined || bits > network.bits) {
      throw invalidArgument(`proxies[${index}]`, text, "an address or a network such as 10.0.0.0/8");
    }
    return { ...network, shift: BigInt(network.bits - bits) };
  });
  return (address) => {
    const client = parseAddress(address);
    return (
      client !== undefined &&
      parsed.some(({ bits, value, shift }) => bits === client.bits && value >> shift === client.value >> shift)
    );
  };
}

function parseIpv4(text: string): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  let value = 0n;
  for (const part of parts) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    value = (value << 8n) | BigInt(part);
  }
  return value;
}

function parseIpv6(text: string): bigint | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head = [], tail = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  // The last 32 bits may be spelled as IPv4.
  const last = halves.length === 2 ? tail : head;
  const end = last[last.length - 1];
  if (end?.includes(".")) {
    const embedded = parseIpv4(end);
    if (embedded === undefined) return undefined;
    last.splice(-1, 1, (embedded >> 16n).toString(16), (embedded & 0xffffn).toString(16));
  }
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  let value = 0n;
  for (const group of [...head, ...new Array<string>(halves.length === 2 ? missing : 0).fill("0"), ...tail]) {
    if (!/^[0-9a-fA-F]{1,4}$/.test(group)) return undefined;
    value = (value << 16n) | BigInt(`0x${group}`);
  }
  return value;
}

function ipv4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join(".");
}
