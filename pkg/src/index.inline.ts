import "./inlined.ts";
import "./places.node.ts";

export * from "./index.ts";
