import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const template = join(root, "examples/cloudflare-worker");
const folder = mkdtempSync(join(tmpdir(), "tidegate-template-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function run(program: string, args: readonly string[], cwd: string): string {
  // A test that runs tests must not take itself for one of them.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, env, encoding: "utf8", timeout: 120_000 });
  assert.equal(status, 0, `${program} ${args.join(" ")}\n${stdout}${stderr}`);
  return stdout;
}

describe("the template of a Cloudflare Worker", () => {
  const manifest = JSON.parse(readFileSync(join(template, "package.json"), "utf8"));

  it("passes its own test outside the repository, with the package as it is packed", () => {
    const copy = join(folder, "copy");
    cpSync(template, copy, { recursive: true, filter: (path) => !/node_modules|\.wrangler/.test(path) });
    const modules = join(copy, "node_modules");
    const packed = join(modules, "tidegate");
    mkdirSync(packed, { recursive: true });
    run("npm", ["pack", "--pack-destination", folder], join(root, "pkg"));
    const [tarball = ""] = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
    run("tar", ["-xzf", join(folder, tarball), "-C", packed, "--strip-components", "1"], folder);
    const { dependencies } = JSON.parse(readFileSync(join(packed, "package.json"), "utf8"));
    for (const name of [...Object.keys(dependencies), ...Object.keys(manifest.devDependencies)]) {
      mkdirSync(dirname(join(modules, name)), { recursive: true });
      symlinkSync(join(root, "node_modules", name), join(modules, name));
    }
    assert.match(run(process.execPath, ["--test", "--test-reporter", "tap"], copy), /^# pass 3$/m);
  });

  it("asks for the versions that are here", () => {
    const version = (path: string) => JSON.parse(readFileSync(join(root, path), "utf8"));
    assert.equal(manifest.dependencies.tidegate, `^${version("pkg/package.json").version}`);
    assert.equal(manifest.devDependencies.wrangler, version("package.json").devDependencies.wrangler);
  });
});
