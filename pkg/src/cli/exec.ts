import type { Client } from "../hotkv.ts";
import { formatReply, jsonReply, type Outcome, outcomeOf } from "./format.ts";

/** Exit statuses, so that a shell script can act on a decision. */
export const STATUS: Readonly<Record<Outcome, number>> = { allowed: 0, denied: 1, error: 2 };

/** Commands whose success is a status word, which HotKV's client prints without quotes. */
const STATUS_REPLIES = new Set([
  "PING",
  "SET",
  "RATELIMIT.CREATE",
  "RATELIMIT.RESET",
  "RATELIMIT.DROP",
  "SELECT",
  "AUTH",
  "TYPE",
]);

/** Runs one command and prints its reply; the exit status says whether it was allowed. */
export async function exec(client: Client, [name = "", ...args]: readonly string[], json: boolean): Promise<number> {
  const [reply = null] = await client.pipeline([[name, ...args]]);
  console.log(json ? jsonReply(reply) : formatReply(reply, STATUS_REPLIES.has(name.toUpperCase())));
  return STATUS[outcomeOf(name, reply)];
}
