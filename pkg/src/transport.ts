import type { Command, Reply } from "./reply.ts";

/** The way of commands to an engine that is somewhere else, and of its replies back. */
export interface Transport {
  /**
   * Sends the commands in one go. The promise holds one reply each, in their order; an error reply is a `HotKVError` in its
   * place. It rejects, with a `HotKVError` of code `"STORE_UNAVAILABLE"` or `"CLOSED"`, only when replies are missing.
   */
  send(commands: readonly Command[]): Promise<readonly Reply[]>;
  /** As {@link Transport.send} of one command, where that can be had for less. It may reject with the command's own error. */
  ask?(command: Command): Promise<Reply>;
  /** Lets go of whatever is open. Calls after it reject with `"CLOSED"`. */
  close(): Promise<void>;
}
