// npm run build: everything that is built, unless it is there.

import { ensurePackage, ensurePlayground, ensureWorker } from "./setup.mjs";
import { green } from "./terminal.mjs";

await ensurePackage();
await ensurePlayground();
await ensureWorker();
console.log(`${green("✓")} pkg/, www/dist/ and build/worker/ are built`);
