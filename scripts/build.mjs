// npm run build: everything that is built, unless it is there.

import { ensurePackage } from "./setup.mjs";
import { green } from "./terminal.mjs";

await ensurePackage();
console.log(`${green("✓")} pkg/ is built`);
