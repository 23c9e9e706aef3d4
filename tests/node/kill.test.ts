import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, describe, it } from "node:test";
import { HotKV } from "tidegate";
import { type Admission, assertNoBreach, LOAD, SETUP } from "../admissions.ts";

const { KILL_ROUNDS = "4" } = process.env;
const ROUNDS = Number(KILL_ROUNDS);
const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tidegate-kill-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Asks all that the load asks, again and again, and prints each admission. Ended by being killed. */
const script = `
import { writeSync } from "node:fs";
import { HotKV } from "tidegate";
import { admits, LOAD } from "../admissions.ts";
const [url, fingerprint] = process.argv.slice(1);
const client = new HotKV({ url });
for (;;) {
  for (const { name, command } of LOAD) {
    const sent = Date.now();
    const ask = command.map((word) => (word === "FINGERPRINT" ? fingerprint : word));
    const reply = await client.command(...ask);
    if (admits(name, reply)) writeSync(1, JSON.stringify({ name, sent, answered: Date.now() }) + "\\n");
  }
}`;

describe("a Node process on file: killed under load, and another one started on the file", () => {
  it("no admission that was answered is forgotten", async () => {
    const url = `file:${join(folder, "killed.db")}`;
    const client = new HotKV({ url });
    let fingerprint = "";
    for (const [name = "", ...args] of SETUP) fingerprint = String(await client.command(name, ...args));
    await client.close();

    const admissions = new Map<string, Admission[]>(LOAD.map(({ name }) => [name, []]));
    for (let round = 0; round < ROUNDS; round++) {
      const child = spawn(process.execPath, ["--input-type=module", "--eval", script, url, fingerprint], {
        cwd: import.meta.dirname,
        stdio: ["ignore", "pipe", "inherit"],
      });
      const ended = new Promise((done) => child.once("close", done));
      const lines = createInterface({ input: child.stdout });
      let seen = 0;
      lines.on("line", (line) => {
        seen++;
        const { name, sent, answered } = JSON.parse(line);
        admissions.get(name)?.push({ sent, answered, units: 1 });
      });
      const started = Date.now();
      while (seen === 0 && Date.now() - started < 10_000) await new Promise((done) => setTimeout(done, 10));
      assert.ok(seen > 0, "the process admits something");
      await new Promise((done) => setTimeout(done, 100 + Math.random() * 300));
      child.kill("SIGKILL");
      await ended;
    }
    for (const { name, bound } of LOAD) {
      const made = admissions.get(name) ?? [];
      assert.ok(made.length >= bound.units, `${name}: ${made.length} admissions`);
      assertNoBreach(made, bound, name);
    }
  });
});
