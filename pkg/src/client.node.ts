import "./socket.node.ts";

export * from "./client.ts";
