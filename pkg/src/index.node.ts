import { readFileSync } from "node:fs";
import { setSource } from "./module.ts";
import "./places.node.ts";

setSource(() => readFileSync(new URL("../wasm/tidegate_bg.wasm", import.meta.url)));

export * from "./index.ts";
