// npm run build: everything that is built, unless it is there.

import { ensurePackage, ensureWorker } from "./setup.mjs";
import { green } from "./terminal.mjs";

await ensurePackage();
await ensureWorker();
console.log(`${green("✓")} pkg/ and build/worker/ are built`);
