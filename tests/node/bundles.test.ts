import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build } from "esbuild";

const program = `
  import { Engine, HotKV } from "tidegate";
  const engine = new Engine({ clock: () => 1764547200000 });
  let refused;
  try { new HotKV({ url: "file:x.db" }); } catch (error) { refused = error.argument; }
  console.log(JSON.stringify([engine.gcraLimit("a", 60000, 10).resetAfterMs, refused]));
`;

/** Says whether the client knows the way to a server's socket. */
const clientProgram = `
  import { HotKV } from "tidegate/client";
  let refused;
  try { new HotKV({ url: "hotkv://127.0.0.1:1" }); } catch (error) { refused = error.argument; }
  console.log(JSON.stringify(refused ?? "opens"));
`;

/** A program in one file, and the names of all files that went into it. */
async function bundled(options: BuildOptions, contents = program): Promise<{ code: string; inputs: string[] }> {
  const result = await build({
    stdin: { contents, resolveDir: fileURLToPath(new URL(".", import.meta.url)) },
    bundle: true,
    format: "esm",
    write: false,
    metafile: true,
    logLevel: "silent",
    ...options,
  });
  return { code: result.outputFiles?.[0]?.text ?? "", inputs: Object.keys(result.metafile?.inputs ?? {}) };
}

function output(code: string): unknown {
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module"], { input: code, encoding: "utf8" });
  assert.equal(stderr, "");
  return JSON.parse(stdout);
}

describe("a bundle for a browser", () => {
  it("runs by itself, and holds no client of Redis, no SQLite and no second module", async () => {
    const { code, inputs } = await bundled({ platform: "browser", minify: true });
    assert.deepEqual(output(code), [6000, "url"]);
    for (const input of inputs) assert.doesNotMatch(input, /redis|\.node\.|store/, input);
  });
});

describe("a bundle for Node", () => {
  it("runs from another folder when it takes tidegate/inline", async () => {
    const { code } = await bundled({
      platform: "node",
      alias: { tidegate: "tidegate/inline" },
      external: ["@redis/client"],
    });
    assert.deepEqual(output(code.replace("file:x.db", "nowhere:")), [6000, "url"]);
  });

  it("of tidegate/client knows hotkv://, which one for a browser does not", async () => {
    const forNode = await bundled({ platform: "node", external: ["@redis/client"] }, clientProgram);
    assert.equal(output(forNode.code), "opens");
    const forBrowser = await bundled({ platform: "browser" }, clientProgram);
    assert.equal(output(forBrowser.code), "url");
  });
});

describe("a bundle for a Worker", () => {
  it("leaves the module a file of its own, and holds nothing of Node", async () => {
    const { code, inputs } = await bundled({
      platform: "neutral",
      conditions: ["workerd"],
      external: ["*.wasm"],
      mainFields: ["module", "main"],
    });
    assert.match(code, /tidegate_bg\.wasm/);
    for (const input of inputs) assert.doesNotMatch(input, /redis|\.node\.|inline/, input);
  });
});
