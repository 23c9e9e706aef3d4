import { HotKVError } from "../errors.ts";
import type { Command } from "../reply.ts";
import { directoryObject, keyObject, namedObject, type Placement } from "./placement.ts";

/** Where a command goes. */
export type Route =
  /** To one object. */
  | { readonly to: "object"; readonly object: string; readonly reads: boolean }
  /** Its keys to an object each; the replies are added up. */
  | { readonly to: "keys"; readonly reads: boolean }
  /** To a limiter's object and to the directory, in steps. */
  | { readonly to: "both"; readonly object: string; readonly step: "create" | "drop" }
  /** Nowhere. */
  | { readonly to: "nobody"; readonly error: HotKVError };

const READS = new Set(["GET", "TYPE", "TTL", "PTTL", "EXISTS", "PING", "ECHO", "TIME", "COMMAND", "INFO"]);
const KEYED = new Set([
  "GCRA.LIMIT",
  "CL.THROTTLE",
  "SET",
  "EXPIRE",
  "PEXPIRE",
  "PERSIST",
  "GET",
  "TYPE",
  "TTL",
  "PTTL",
]);
const MANY = new Set(["GCRA.RESET", "DEL", "UNLINK", "EXISTS"]);
const ACROSS = new Set(["KEYS", "SCAN", "DBSIZE", "FLUSHALL", "FLUSHDB"]);

/** The command's name in capitals. */
export function nameOf(command: Command): string {
  const name = String(command[0]);
  // Turning a name into capitals takes as long as all else that is done with it, and most of them are.
  return name === "GCRA.LIMIT" ? name : name.toUpperCase();
}

/** Where `command` goes in `namespace`. One that is wrong in itself goes to the directory, which says what is wrong. */
export function routeOf(command: Command, namespace: string, placement: Placement): Route {
  const name = nameOf(command);
  const first = command[1];
  if (name === "GCRA.LIMIT" && first !== undefined) {
    return { to: "object", object: keyObject(namespace, first, placement), reads: false };
  }
  const reads = READS.has(name);
  if (KEYED.has(name) && first !== undefined) {
    return { to: "object", object: keyObject(namespace, first, placement), reads };
  }
  const directory: Route = { to: "object", object: directoryObject(namespace), reads };
  if (ACROSS.has(name)) {
    const why = `ERR ${name} is not offered across Durable Objects, each of which holds a few keys and knows of no other`;
    return { to: "nobody", error: HotKVError.fromReply(why) };
  }
  if (first === undefined) return name === "RATELIMIT.LIST" ? { ...directory, reads: true } : directory;
  if (MANY.has(name)) {
    if (command.length > 2) return { to: "keys", reads };
    return { to: "object", object: keyObject(namespace, first, placement), reads };
  }
  if (name.startsWith("VALVE.")) {
    return { to: "object", object: namedObject("policy", namespace, first), reads: name === "VALVE.SHOW" };
  }
  const object = namedObject("limiter", namespace, first);
  switch (name) {
    case "RATELIMIT.CREATE":
      return { to: "both", object, step: "create" };
    case "RATELIMIT.DROP":
      return { to: "both", object, step: "drop" };
    case "RATELIMIT.CHECK":
    case "RATELIMIT.RESET":
      return { to: "object", object, reads: false };
    case "RATELIMIT.PEEK":
    case "RATELIMIT.STATS":
      return { to: "object", object, reads: true };
    default:
      return directory;
  }
}
