// Sets up what `npm run matrix` needs: the package and the Worker, Chromium, and the runtimes and bundlers that npm has.

import { ensureMatrix } from "./setup.mjs";

await ensureMatrix();
