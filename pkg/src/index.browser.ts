import "./inlined.ts";

export * from "./index.ts";
