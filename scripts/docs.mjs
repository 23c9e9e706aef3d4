// npm run docs: the reference, out of the doc comments, in target/reference: `js` for the package, `rust` for the crate.
// A comment that is missing, a link that leads nowhere, and a crate whose public items changed fail it;
// `npm run docs -- accept` keeps the items as they are.

import { cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root, run } from "./run.mjs";
import { holdsRustApi } from "./rust_api.mjs";
import { ensureReference } from "./setup.mjs";
import { say } from "./terminal.mjs";

const TYPEDOC = join(root, "docs/reference/node_modules/typedoc/bin/typedoc");

/** The source of every module that the package exports, each once. */
function entryPoints() {
  const { exports } = JSON.parse(readFileSync(join(root, "pkg/package.json"), "utf8"));
  const types = Object.values(exports).flatMap(({ types }) => (types === undefined ? [] : [types]));
  return [...new Set(types)].map((file) => file.replace("./dist/", "pkg/src/").replace(/\.d\.ts$/, ".ts"));
}

/** Writes the package's reference; the exit status. */
export async function javascriptReference() {
  await ensureReference();
  return run(process.execPath, [TYPEDOC, "--options", "docs/reference/typedoc.json", ...entryPoints()]);
}

/** Writes the crate's reference; the exit status. */
export async function rustReference(accept = false) {
  const status = await run("cargo", ["doc", "--quiet", "--no-deps", "--lib"], { env: { RUSTDOCFLAGS: "-D warnings" } });
  if (status !== 0) return status;
  const made = join(root, "target/reference/rust");
  rmSync(made, { recursive: true, force: true });
  cpSync(join(root, "target/doc"), made, { recursive: true });
  return holdsRustApi(join(made, "tidegate"), accept) ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = (await javascriptReference()) || (await rustReference(process.argv[2] === "accept"));
  if (process.exitCode === 0) {
    say("open target/reference/js/index.html and target/reference/rust/tidegate/index.html");
  }
}
