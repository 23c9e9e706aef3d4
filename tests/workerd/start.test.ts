import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

describe("npm start", () => {
  it("serves the Worker and the playground, and ends cleanly on Ctrl-C", async () => {
    const child = spawn(process.execPath, ["scripts/start.mjs"], {
      cwd: fileURLToPath(new URL("../..", import.meta.url)),
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = new Promise<number | null>((done) => child.once("exit", done));
    let printed = "";
    const ready = new Promise<void>((done, reject) => {
      child.stdout.setEncoding("utf8").on("data", (text) => {
        printed += text;
        if (printed.includes("Ctrl-C stops it")) done();
      });
      void ended.then(() => reject(new Error(`ended early:\n${printed}`)));
    });
    try {
      await ready;
      const [url = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(printed) ?? [];
      // The two lines to paste, and what they ask.
      assert.equal(printed.match(/^ {2}curl /gm)?.length, 2);
      const body = JSON.stringify(["GCRA.LIMIT", `start ${Math.random()}`, 1000, 10]);
      const answer = await fetch(`${url}/v1/command`, { method: "POST", body });
      assert.deepEqual(await answer.json(), { result: [0, 10, 9, -1, 100] });
      assert.match(await (await fetch(url)).text(), /<!doctype html>/i);
    } finally {
      child.kill("SIGINT");
    }
    assert.equal(await ended, 0);
  });
});
