import { HotKVError } from "./errors.ts";
import type { Command } from "./reply.ts";

/** The error of a transaction that comes without its end. */
export function unended(): HotKVError {
  return HotKVError.fromReply("ERR MULTI is not offered by itself here; send it with its EXEC in one pipeline");
}

/** Throws when `commands` begin a transaction and do not end it: what other calls send meanwhile would wait in it. */
export function assertEnded(commands: readonly Command[]): void {
  let begun = false;
  for (const [name] of commands) {
    const word = String(name).toUpperCase();
    if (word === "MULTI") begun = true;
    else if (word === "EXEC" || word === "DISCARD" || word === "RESET" || word === "QUIT") begun = false;
  }
  if (begun) throw unended();
}
