// node scripts/version.mjs [TAG]: prints the version, once every file that states it says the same, and the tag too.
// The changelog has a part for whatever is tagged.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run.mjs";
import { fail } from "./terminal.mjs";

const text = (path) => readFileSync(join(root, path), "utf8");
const json = (path) => JSON.parse(text(path));

/** What each file says that the version is. */
export function versions() {
  const lock = json("package-lock.json").packages;
  return {
    "Cargo.toml": /^\[package\]\nname = "tidegate"\nversion = "([^"]+)"/m.exec(text("Cargo.toml"))?.[1],
    "Cargo.lock": /^name = "tidegate"\nversion = "([^"]+)"/m.exec(text("Cargo.lock"))?.[1],
    "pkg/package.json": json("pkg/package.json").version,
    "package-lock.json": lock.pkg.version,
    "www/package.json": json("www/package.json").devDependencies.tidegate,
  };
}

const [tag] = process.argv.slice(2);
const stated = versions();
const version = stated["Cargo.toml"];
const differing = Object.entries(stated).filter(([, each]) => each !== version);
if (version === undefined || differing.length > 0) {
  fail(
    `one version everywhere: Cargo.toml has ${version}, but ${differing.map((pair) => pair.join(" has ")).join(", ")}`,
  );
}
if (tag !== undefined) {
  if (tag !== `v${version}`)
    fail(`the tag ${tag} is not v${version}, the version that Cargo.toml and pkg/package.json have`);
  if (!text("CHANGELOG.md").includes(`\n## [${version}] - `)) fail(`CHANGELOG.md has no part for ${version}`);
}
console.log(version);
