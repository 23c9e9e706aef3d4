import "../index.node.ts";

export { type HostOptions, openHost } from "./engine_host.ts";
export type { Host } from "./host.ts";
export { createLog, type Log, type LogFields, type LogFormat } from "./log.ts";
export { type ServeOptions, type Server, serve } from "./server.ts";
