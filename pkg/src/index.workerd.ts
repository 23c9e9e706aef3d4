import module from "../wasm/tidegate_bg.wasm";
import { setSource } from "./module.ts";

setSource(() => module);

export * from "./index.ts";
