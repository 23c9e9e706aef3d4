/**
 * The server behind `tidegate serve`, for programs that run their own.
 *
 * @module tidegate/server
 */

import "../index.node.ts";

export type { EngineStats } from "../engine.ts";
export type { Flow } from "../session.ts";
export { type HostOptions, openHost } from "./engine_host.ts";
export type { Host, HostSession } from "./host.ts";
export { createLog, type Log, type LogFields, type LogFormat } from "./log.ts";
export { type ServeOptions, type Server, serve } from "./server.ts";
