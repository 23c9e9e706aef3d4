import { base64 } from "../wasm/inline.js";
import { setSource } from "./module.ts";

// The module as text in the code: it needs no file, no permission and no setting of a bundler.
setSource(() => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));
