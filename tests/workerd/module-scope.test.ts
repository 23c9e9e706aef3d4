import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { bundle, temporaryFolder, Workerd } from "./workerd.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = temporaryFolder();
after(() => rmSync(folder, { recursive: true, force: true }));

/** Takes note of everything that starts something, or that module scope has no right answer for. */
const WATCH = `
  globalThis.started = [];
  const watch = (owner, name, shown) => {
    const original = owner[name];
    owner[name] = function (...args) {
      globalThis.started.push(shown ?? name);
      return new.target === undefined ? original.apply(this, args) : new original(...args);
    };
    owner[name].prototype = original.prototype;
  };
  for (const name of ["setTimeout", "setInterval", "queueMicrotask", "fetch"]) watch(globalThis, name);
  for (const name of ["getRandomValues", "randomUUID"]) watch(crypto, name);
  watch(Math, "random");
  watch(Date, "now");
  watch(performance, "now", "performance.now");
  watch(WebAssembly, "Instance");
`;

/** What importing `module` starts, and what a check through it starts after that. */
async function startedBy(name: string, module: string, check: string): Promise<{ scope: string[]; check: string[] }> {
  writeFileSync(join(folder, "watch.js"), WATCH);
  const entry = join(folder, `${name}.js`);
  const from = JSON.stringify(join(root, module));
  writeFileSync(
    entry,
    `import "./watch.js";
     import * as imported from ${from};
     const scope = globalThis.started.splice(0);
     export class TidegateObject extends (imported.TidegateObject ?? class {}) {}
     export default {
       async fetch(request, env, context) {
         if (request.headers.has("x-probe")) return new Response();
         globalThis.started.length = 0;
         await (${check})(imported, env, context);
         return Response.json({ scope, check: globalThis.started });
       },
     };`,
  );
  const workerd = await Workerd.start({
    folder: await bundle(entry, folder),
    storage: join(folder, `${name}-storage`),
    classes: { TIDEGATE: "TidegateObject" },
    variables: { TIDEGATE_DEV: "allow-anyone" },
  });
  try {
    return (await (await fetch(workerd.url)).json()) as { scope: string[]; check: string[] };
  } finally {
    await workerd.kill();
  }
}

describe("F33: nothing is started at module scope in a Worker", () => {
  const modules = {
    workers: [
      "pkg/dist/workers/index.js",
      `({ HotKV }, { TIDEGATE }) => new HotKV({ binding: TIDEGATE }).gcraLimit("k", 1000, 10)`,
    ],
    engine: ["pkg/dist/index.workerd.js", `({ Engine }) => new Engine().gcraLimit("k", 1000, 10)`],
    deployed: [
      "build/worker/index.js",
      `({ default: worker }, env, context) => {
         const body = JSON.stringify(["GCRA.LIMIT", "k", 1000, 10]);
         return worker.fetch(new Request("http://x/v1/command", { method: "POST", body }), env, context);
       }`,
    ],
  } as const;
  for (const [name, [module, check]] of Object.entries(modules)) {
    it(`${name}: no timer, no clock, no random numbers, no instance until the first call`, async () => {
      const started = await startedBy(name, module, check);
      assert.deepEqual(started.scope, []);
      // The first call makes the instance, so the watch does see what is started.
      assert.ok(started.check.includes("Instance"), String(started.check));
    });
  }
});
