import { HotKVError } from "../errors.ts";
import { addressKey, assertPrefix, networks, parseAddress } from "./address.ts";

/** An entry as some proxies write it, Azure's for one: `192.0.2.1:5678`, `[2001:db8::1]:5678`. */
const WITH_PORT = /^(?:([\d.]+):\d+|\[(.*)\](?::\d+)?)$/;

/** How a client's address is found. */
export interface AddressOptions {
  /**
   * Addresses or networks of proxies in front of this server, such as `["10.0.0.0/8"]`. Only when a request comes from one of
   * them is its `X-Forwarded-For` believed, and only as far back as the entries are proxies too.
   */
  readonly proxies?: readonly string[];
  /** Leading bits of an IPv6 address that make one client; 64 by default. */
  readonly ipv6Prefix?: number;
}

/**
 * Makes the function that turns a request's facts into its client's key.
 *
 * On Cloudflare Workers that is `CF-Connecting-IP`, which the platform sets; elsewhere the socket's address, and what named
 * proxies say.
 */
export function clientKey(
  options: AddressOptions,
): (socketAddress: string | undefined, header: (name: string) => string | null | undefined) => string {
  const { proxies = [], ipv6Prefix = 64 } = options;
  assertPrefix("ipv6Prefix", ipv6Prefix);
  const isProxy = networks(proxies);
  return (socketAddress, header) => {
    let client = isCloudflareWorker() ? (header("CF-Connecting-IP") ?? socketAddress) : socketAddress;
    if (client === undefined) {
      throw new HotKVError(
        "INVALID_ARGUMENT",
        "the client's address is not known here; give a key(request) option that says whose budget a request spends",
      );
    }
    if (proxies.length === 0) return addressKey(client, ipv6Prefix);
    const forwarded = (header("X-Forwarded-For") ?? "").split(",");
    while (isProxy(client)) {
      const before = forwarded.pop()?.trim().replace(WITH_PORT, "$1$2");
      if (!before || parseAddress(before) === undefined) break;
      client = before;
    }
    return addressKey(client, ipv6Prefix);
  };
}

function isCloudflareWorker(): boolean {
  return globalThis.navigator?.userAgent === "Cloudflare-Workers";
}
