import { HotKVError } from "../errors.ts";
import type { Host } from "./host.ts";
import type { Server } from "./server.ts";

// `tidegate/server` where nothing can be listened on: a browser or a Worker.

export { createLog } from "./log.ts";

/** Says where a server can be. */
export function openHost(): Host {
  throw noSockets();
}

/** Says where a server can be. */
export async function serve(): Promise<Server> {
  throw noSockets();
}

function noSockets(): HotKVError {
  return new HotKVError("STORE_UNAVAILABLE", "tidegate/server needs sockets: it runs on Node, Deno and Bun");
}
