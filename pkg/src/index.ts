export { HotKVError } from "./errors.ts";
export type { Argument, Command, Reply } from "./reply.ts";
export type * from "./results.ts";
export type { Transport } from "./transport.ts";
