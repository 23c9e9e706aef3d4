import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { commandCases, policyCases } from "../node/vectors.ts";
import { run } from "./children.ts";

export const root = fileURLToPath(new URL("../..", import.meta.url));
/** Frameworks that the middleware is used with. */
const FRAMEWORKS = ["hono", "express", "fastify"];

const manifest = (path: string) => JSON.parse(readFileSync(join(root, path), "utf8"));

/** The package's version. */
export const version: string = manifest("pkg/package.json").version;

/** The package's command, which is a way in as well. */
export const COMMAND = "npx tidegate";

/** Every module of the package, as its users spell it. */
export const subpaths = Object.keys(manifest("pkg/package.json").exports).map((path) => `tidegate${path.slice(1)}`);

/** Packs the package and installs the tarball in a folder of its own, beside the program that uses it; the folder. */
export async function install(temporary: string): Promise<string> {
  const [report] = JSON.parse(
    await run("npm", ["pack", "--json", "--pack-destination", temporary], { cwd: join(root, "pkg") }),
  );
  const folder = join(temporary, "installed");
  mkdirSync(folder);
  const versions = manifest("package.json").devDependencies;
  const dependencies = {
    ...Object.fromEntries(FRAMEWORKS.map((name) => [name, versions[name]])),
    tidegate: `file:${join(temporary, report.filename)}`,
  };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }));
  await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline"], { cwd: folder, timeoutMs: 300_000 });
  cpSync(fileURLToPath(new URL("program", import.meta.url)), folder, { recursive: true });
  const vectors = {
    commandCases: commandCases("reference-commands"),
    policyCases: policyCases("reference-policies"),
  };
  writeFileSync(
    join(folder, "vectors.mjs"),
    Object.entries(vectors)
      .map(([name, cases]) => `export const ${name} = ${JSON.stringify(cases)};\n`)
      .join(""),
  );
  return folder;
}

/** Writes `loads.mjs`, which imports what it is asked for by names that a bundler can see. */
export function writeLoads(folder: string, names: readonly string[]): void {
  const entries = names.map((name) => `  ${JSON.stringify(name)}: () => import(${JSON.stringify(name)}),\n`);
  writeFileSync(join(folder, "loads.mjs"), `export const loads = {\n${entries.join("")}};\n`);
}
