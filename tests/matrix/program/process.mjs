// Where a runtime is a process: one subpath, named by the arguments, with `import`.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import process from "node:process";
import { use } from "./main.mjs";

const place = JSON.parse(process.argv[2]);
const require = createRequire(import.meta.url);
const row = await use(place.subpath, {
  ...place,
  // Not every runtime imports JSON the same way; all of them require it.
  load: (name) => (name.endsWith(".json") || place.requires ? require(name) : import(name)),
  module: () => readFile(new URL("node_modules/tidegate/wasm/tidegate_bg.wasm", import.meta.url)),
});
process.stdout.write(`${JSON.stringify(row)}\n`, () => process.exit(0));
