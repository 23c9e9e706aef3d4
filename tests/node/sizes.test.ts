import assert from "node:assert/strict";
import { basename } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** What a bundle of an entry weighs in gzip: all that is loaded with it, which leaves out what `Valve.fetch` brings. */
async function zipped(entry: string, condition: string): Promise<number> {
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(new URL(`../../pkg/dist/${entry}`, import.meta.url))],
    bundle: true,
    minify: true,
    format: "esm",
    write: false,
    outdir: "out",
    conditions: [condition],
    external: ["cloudflare:workers"],
    loader: { ".wasm": "copy" },
    splitting: true,
    metafile: true,
  });
  const later = Object.values(metafile.outputs).flatMap(({ imports }) =>
    imports.flatMap(({ kind, path }) => (kind === "dynamic-import" ? [basename(path)] : [])),
  );
  assert.equal(later.length, 1);
  const loaded = outputFiles.filter(({ path }) => !later.includes(basename(path)));
  return loaded.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0);
}

describe("bundles stay small, in gzip", () => {
  it("tidegate/client: at most 10 KB", async () => {
    const bytes = await zipped("client.js", "browser");
    assert.ok(bytes <= 10 * 1024, `${bytes} bytes`);
  });

  it("tidegate/client has no WebAssembly inside", async () => {
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL("../../pkg/dist/client.js", import.meta.url))],
      bundle: true,
      format: "esm",
      write: false,
      conditions: ["browser"],
    });
    assert.doesNotMatch(outputFiles[0]?.text ?? "", /WebAssembly/);
  });

  // The aim is 40 KB, which its engine alone is over; docs/performance.md says what stands in the way.
  it("tidegate/workers: at most 72.4 KB, so that it does not grow until it shrinks", async () => {
    const bytes = await zipped("workers/index.js", "workerd");
    assert.ok(bytes <= 72.4 * 1024, `${bytes} bytes`);
  });
});
