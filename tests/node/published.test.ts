import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "tidegate-published-"));

function output(program: string, args: readonly string[], cwd = root): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: "utf8" });
  assert.equal(status, 0, `${program} ${args.join(" ")}\n${stdout}${stderr}`);
  return stdout;
}

function filesIn(path: string): string[] {
  return readdirSync(join(root, path), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(join(root, path).length + 1));
}

const documents = ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];

describe("the npm package", () => {
  let tarball = "";
  let packed: string[] = [];
  before(() => {
    const [report] = JSON.parse(output("npm", ["pack", "--json", "--pack-destination", folder], join(root, "pkg")));
    tarball = join(folder, report.filename);
    packed = report.files.map(({ path }: { path: string }) => path);
  });
  after(() => rmSync(folder, { recursive: true }));

  it("holds its sources, what is compiled from them, the modules, its documents, and nothing else", () => {
    const sources = filesIn("pkg/src");
    const compiled = sources
      .filter((path) => !path.endsWith(".d.ts"))
      .map((path) => path.slice(0, -".ts".length))
      .flatMap((path) => ["js", "js.map", "d.ts", "d.ts.map"].map((kind) => `dist/${path}.${kind}`));
    const modules = ["tidegate", "store"].flatMap((name) => [
      `${name}.js`,
      `${name}.d.ts`,
      `${name}_bg.wasm`,
      `${name}_bg.d.wasm.ts`,
    ]);
    const due = [
      ...sources.map((path) => `src/${path}`),
      ...compiled,
      ...[...modules, "inline.js", "inline.d.ts"].map((name) => `wasm/${name}`),
      ...documents,
      "package.json",
    ];
    assert.deepEqual([...packed].sort(), due.sort());
  });

  it("is right for every loader that publint and attw know", () => {
    output("publint", ["run", "--strict", tarball]);
    // There is no CommonJS in it: Node requires the modules themselves, from 22.12 on.
    output("attw", ["--profile", "esm-only", "--format", "ascii", tarball]);
  });

  it("has the repository's own documents", () => {
    for (const name of documents.filter((each) => each !== "README.md")) {
      assert.equal(output("tar", ["-xOf", tarball, `package/${name}`]), readFileSync(join(root, name), "utf8"), name);
    }
  });
});

describe("the crate", () => {
  it("holds its sources without their tests, its documents, and nothing else", () => {
    const packed = output("cargo", ["package", "--quiet", "--list", "--allow-dirty"]).trim().split("\n");
    const sources = filesIn("src")
      .map((path) => `src/${path}`)
      .filter((path) => !/\/tests(\/|\.rs$)/.test(path));
    // What cargo adds by itself: the manifest as it was written, the lock, and the commit, where there is one.
    const added = ["Cargo.toml", "Cargo.toml.orig", "Cargo.lock"];
    const due = [...sources, ...documents, ...added];
    assert.deepEqual(packed.filter((path) => path !== ".cargo_vcs_info.json").sort(), due.sort());
  });
});

describe("a version", () => {
  const check = (...args: readonly string[]) =>
    spawnSync(process.execPath, ["scripts/version.mjs", ...args], { cwd: root, encoding: "utf8" });

  it("is the same in every file that states it", () => {
    const { status, stdout, stderr } = check();
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  });

  it("is not released under another's tag", () => {
    const { status, stderr } = check("v999.0.0");
    assert.equal(status, 1);
    assert.match(stderr, /v999\.0\.0/);
  });
});

describe("the changelog", () => {
  const lines = readFileSync(join(root, "CHANGELOG.md"), "utf8").split("\n");
  const parts = lines.filter((line) => line.startsWith("## "));

  it("begins with what is unreleased; the versions follow, the newest first, each with its day", () => {
    assert.equal(lines[0], "# Changelog");
    assert.equal(parts[0], "## [Unreleased]");
    const released = parts.slice(1).map((line) => /^## \[(\d+)\.(\d+)\.(\d+)\] - \d{4}-\d\d-\d\d$/.exec(line));
    const order = released.map((match, index) => {
      assert.ok(match, parts[index + 1]);
      return match.slice(1).reduce((sum, part) => sum * 1e5 + Number(part), 0);
    });
    assert.deepEqual(
      order,
      [...order].sort((a, b) => b - a),
    );
  });

  it("sorts changes by their kind", () => {
    const kinds = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security", "Known gaps"];
    for (const line of lines.filter((each) => each.startsWith("### "))) {
      assert.ok(kinds.includes(line.slice(4)), line);
    }
  });
});
