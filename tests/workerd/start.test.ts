import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { npmStart, type Started } from "../npm-start.ts";

describe("npm start", () => {
  let started: Started;
  before(async () => {
    started = await npmStart();
  });
  after(async () => {
    assert.equal(await started?.stop(), 0, "Ctrl-C ends it cleanly");
  });

  it("prints two lines to paste, and answers what they ask", async () => {
    assert.equal(started.printed.match(/^ {2}curl /gm)?.length, 2);
    const body = JSON.stringify(["GCRA.LIMIT", `start ${Math.random()}`, 1000, 10]);
    const answer = await fetch(`${started.url}/v1/command`, { method: "POST", body });
    assert.deepEqual(await answer.json(), { result: [0, 10, 9, -1, 100] });
  });

  it("serves the playground with its files, their types, and what no other page may do with it", async () => {
    const page = await fetch(`${started.url}/`);
    assert.match(page.headers.get("content-type") ?? "", /^text\/html/);
    assert.equal(page.headers.get("content-security-policy"), "frame-ancestors 'none'");
    assert.equal(page.headers.get("x-content-type-options"), "nosniff");
    const html = await page.text();
    assert.match(html, /Content-Security-Policy"\s+content="default-src 'self'; script-src 'self' 'wasm-unsafe-eval'/);
    const files = [...html.matchAll(/(?:src|href)="(\.\/[^"]+)"/g)].map(([, path = ""]) => path);
    assert.ok(files.some((path) => path.endsWith(".js")) && files.some((path) => path.endsWith(".css")), String(files));
    const script = await (await fetch(new URL(files.find((path) => path.endsWith(".js")) ?? "", started.url))).text();
    const [module = ""] = /[\w-]+\.wasm/.exec(script) ?? [];
    const types = { js: /javascript/, css: /^text\/css/, svg: /^image\/svg\+xml/, wasm: /^application\/wasm/ };
    for (const path of [...files, `./assets/${module}`]) {
      const file = await fetch(new URL(path, `${started.url}/`));
      await file.arrayBuffer();
      assert.equal(file.status, 200, path);
      const type = types[path.split(".").at(-1) as keyof typeof types];
      assert.match(file.headers.get("content-type") ?? "", type, path);
    }
  });
});
