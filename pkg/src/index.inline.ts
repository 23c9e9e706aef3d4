import { base64 } from "../wasm/inline.js";
import { setSource } from "./module.ts";

setSource(() => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));

export * from "./index.ts";
