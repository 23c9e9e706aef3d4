import { cpSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { run } from "./children.ts";
import { COMMAND, root } from "./install.ts";
import type { Runtime } from "./runtime.ts";

/** TypeScript, which reads the declarations of the installed package, libraries' own included, as each way of resolution does. */
export function typescript(): Runtime[] {
  return [
    { name: "tsc (nodenext)", module: "nodenext", resolution: "nodenext" },
    { name: "tsc (bundler)", module: "esnext", resolution: "bundler" },
  ].map(({ name, module, resolution }) => ({
    name,
    atOnce: availableParallelism(),
    without: { "tidegate/package.json": "has no declarations", [COMMAND]: "has no declarations" },
    async open(installed) {
      const folder = `${installed}-${resolution}`;
      cpSync(installed, folder, { recursive: true });
      cpSync(join(root, "node_modules/@types/node"), join(folder, "node_modules/@types/node"), { recursive: true });
      symlinkSync(join(root, "node_modules/undici-types"), join(folder, "node_modules/undici-types"));
      const compilerOptions = {
        ...{ module, moduleResolution: resolution, target: "es2022", lib: ["es2024", "esnext.disposable", "dom"] },
        ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, types: ["node"] },
      };
      writeFileSync(join(folder, "cloudflare.d.ts"), CLOUDFLARE);
      return {
        async use(subpath) {
          const program = `import * as module from "${subpath}";\n${USES[subpath] ?? "export { module };"}\n`;
          const name = subpath.replace("/", "-");
          const config = join(folder, `${name}.json`);
          writeFileSync(join(folder, `${name}.ts`), program);
          writeFileSync(config, JSON.stringify({ compilerOptions, files: [`${name}.ts`, "cloudflare.d.ts"] }));
          await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "--project", config]);
          return { cases: 1, passed: 1, faults: [] };
        },
      };
    },
  }));
}

/** What must compile beside the import itself. */
const USES: Readonly<Record<string, string>> = {
  tidegate: `
    const result = new module.Engine().gcraLimit("k", 1000, 1);
    export const wait: number = result.denied ? result.retryAfterMs : 0;
    new module.Valve({ namespace: "n", rate: { limit: 1, interval: "1s", name: "a", scope: "user" } })
      .run(() => 1, { scope: { user: "u" } });
    // @ts-expect-error: whose budget is it
    new module.Valve({ namespace: "n", rate: { limit: 1, interval: "1s", name: "a", scope: "user" } }).run(() => 1);`,
};

/** What the package takes from the types of Cloudflare. */
const CLOUDFLARE = `
declare module "cloudflare:workers" {
  export abstract class DurableObject<Env = unknown> {
    protected ctx: { readonly storage: { readonly sql: unknown } };
    protected env: Env;
    constructor(ctx: { readonly storage: { readonly sql: unknown } }, env: Env);
    alarm?(): Promise<void>;
  }
}
`;
