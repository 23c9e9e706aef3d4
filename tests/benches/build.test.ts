import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { fileFor } from "../../benches/start/entry.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const sha256 = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");

describe("what is benchmarked is what is shipped", () => {
  let scratch: string;
  /** The package as npm would publish it. */
  let shipped: string;

  before(() => {
    scratch = mkdtempSync(join(tmpdir(), "tidegate-packed-"));
    execFileSync("npm", ["pack", "--silent", "--pack-destination", scratch], {
      cwd: join(root, "pkg"),
      stdio: "ignore",
    });
    const [tarball = ""] = readdirSync(scratch);
    execFileSync("tar", ["-xzf", join(scratch, tarball), "-C", scratch]);
    shipped = join(scratch, "package");
  });
  after(() => rmSync(scratch, { recursive: true, force: true }));

  it("the module that the benchmarks compile is the packed one", () => {
    const args = [join(root, "benches/js/run.ts"), "--quick", "batch"];
    const out = execFileSync(process.execPath, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    const { module } = JSON.parse(out) as { module: string };
    assert.equal(module, sha256(join(shipped, "wasm/tidegate_bg.wasm")));
  });

  it("the code they import, and the server they start, are the packed ones", () => {
    const imported = realpathSync(
      fileURLToPath(import.meta.resolve("tidegate", new URL("../../benches/js/run.ts", import.meta.url))),
    );
    assert.equal(imported, fileFor(".", "node"));
    const packed = readdirSync(join(shipped, "dist"), { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(".js"),
    );
    assert.ok(packed.includes("index.node.js") && packed.includes("cli/main.js"));
    for (const file of packed)
      assert.equal(sha256(join(shipped, "dist", file)), sha256(join(root, "pkg/dist", file)), file);
  });

  it("the results kept say which module they are of", () => {
    for (const name of ["checks", "refusals", "inserting", "leaving", "batch"]) {
      const file = join(root, `benches/results/${name}.json`);
      if (!existsSync(file)) continue;
      const { module } = JSON.parse(readFileSync(file, "utf8")) as { module?: string };
      assert.match(module ?? "", /^[0-9a-f]{64}$/, name);
    }
  });
});
