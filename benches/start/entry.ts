// What a runtime runs to make its first decision, and the file of the package that its export conditions choose.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = new URL("../../pkg/", import.meta.url);
const { exports } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8")) as {
  exports: Record<string, Record<string, string>>;
};

/** The package's file for an entry under a condition, as a runtime with that condition finds it. */
export function fileFor(entry: string, condition: string): string {
  const conditions = exports[entry] ?? {};
  const found = Object.entries(conditions).find(([name]) => name === condition || name === "default");
  if (found === undefined) throw new Error(`the package has no ${entry} for ${condition}`);
  return fileURLToPath(new URL(found[1], folder));
}

/** Makes one decision, and says so. */
export function decides(file: string): string {
  return `import { Engine } from ${JSON.stringify(file)};
const { denied } = new Engine().gcraLimit("api:user:42", 60000, 10);
console.log(denied ? "refused" : "decided");
`;
}

/** Says something at once: what the runtime alone takes. */
export const BARE = `console.log("decided");\n`;
