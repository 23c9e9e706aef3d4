import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";

/** Each way in, by the file that the package's conditions lead to. */
const dist = (file: string) => new URL(`../../pkg/dist/${file}`, import.meta.url).href;

describe("every way into the package decides the same", () => {
  for (const file of ["index.node.js", "index.inline.js", "index.browser.js"]) {
    it(`${file} is ready at once`, async () => {
      const { Engine, HotKV, HotKVError } = await import(`${dist(file)}?alone`);
      using engine = new Engine({ clock: () => 1_764_547_200_000 });
      assert.equal(engine.gcraLimit("a", 60_000, 10).resetAfterMs, 6000);
      assert.equal((await new HotKV().gcraLimit("a", 60_000, 10)).remaining, 9);
      assert.throws(() => engine.gcraLimit("a", 0, 10), HotKVError);
    });
  }
});

describe("tidegate/web", () => {
  it("says what to do before it is initialized, then takes bytes", () => {
    // In a fresh process: the module is shared by every entry of one.
    const script = `
      import { init, Engine } from "tidegate/web";
      import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
      let early;
      try { new Engine(); } catch (error) { early = error; }
      await init(readFileSync(${JSON.stringify(new URL("../../pkg/wasm/tidegate_bg.wasm", import.meta.url).pathname)}));
      await init();
      console.log(JSON.stringify([early.code, early.message, new Engine().gcraLimit("a", 60000, 10).remaining]));
    `;
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
      cwd: new URL(".", import.meta.url),
      encoding: "utf8",
    });
    assert.equal(stderr, "");
    const [code, message, remaining] = JSON.parse(stdout);
    assert.equal(code, "STORE_UNAVAILABLE");
    assert.match(message, /await init\(\)/);
    assert.equal(remaining, 9);
  });
});

describe("the package's map of entries", () => {
  const manifest = JSON.parse(readFileSync(new URL("../../pkg/package.json", import.meta.url), "utf8"));
  it("leads only to files that are there", () => {
    const targets = [...JSON.stringify(manifest.exports).matchAll(/"\.\/([^"]+\.[a-z]+)"/g)].map(([, file]) => file);
    assert.ok(targets.length > 5);
    for (const target of targets) {
      assert.ok(readFileSync(new URL(`../../pkg/${target}`, import.meta.url)).length > 0, target);
    }
  });
});
