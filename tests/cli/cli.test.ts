import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { Engine } from "tidegate";
import { startServer } from "../resp/server.ts";

const main = fileURLToPath(new URL("../../pkg/dist/cli/main.js", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "tidegate-cli-"));

function tidegate(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    encoding: "utf8",
    timeout: 20_000,
  });
  return { status, stdout, stderr };
}

function file(name: string, text: string): string {
  const path = join(scratch, name);
  writeFileSync(path, text);
  return path;
}

const POLICY = file(
  "policy.json",
  '[{"limit":10,"interval":"1s","burst":5},{"limit":100,"interval":"1d","algorithm":"fixed-window"}]',
);

describe("tidegate exec", () => {
  it("prints as the documents do, and exits with 0 allowed, 1 denied, 2 error", async () => {
    await using server = await startServer();
    const exec = (...words: readonly string[]) => tidegate("exec", "-u", `hotkv://127.0.0.1:${server.port}`, ...words);
    const limit = ["GCRA.LIMIT", "k", "60000", "1"];
    assert.deepEqual(exec(...limit), {
      status: 0,
      stdout: "1) (integer) 0\n2) (integer) 1\n3) (integer) 0\n4) (integer) -1\n5) (integer) 60000\n",
      stderr: "",
    });
    assert.equal(exec(...limit).status, 1);
    assert.deepEqual(exec("GCRA.LIMIT", "k", "0", "1"), {
      status: 2,
      stdout: "(error) ERR value is not an integer or out of range\n",
      stderr: "",
    });
    assert.deepEqual(exec("RATELIMIT.CREATE", "api", "5", "1000"), { status: 0, stdout: "OK\n", stderr: "" });
    const [, allowed] = /^\[(\d)/.exec(exec("--json", "RATELIMIT.CHECK", "api", "k", "COST", "9").stdout) ?? [];
    assert.equal(allowed, "0");
    assert.deepEqual(exec("GET", "missing"), { status: 0, stdout: "(nil)\n", stderr: "" });
  });

  it("says who gave no answer", () => {
    const { status, stderr } = tidegate("exec", "-u", "hotkv://127.0.0.1:1", "PING");
    assert.equal(status, 2);
    assert.match(stderr, /^error: no answer from 127\.0\.0\.1:1/);
    assert.ok(!stderr.includes("\u001b"), "no color where nobody watches");
  });

  it("runs on an embedded engine and on a file as well", () => {
    assert.equal(tidegate("exec", "-u", "memory:", "PING").stdout, "PONG\n");
    const data = `file:${join(scratch, "limits.db")}`;
    assert.equal(tidegate("exec", "-u", data, "GCRA.LIMIT", "k", "3600000", "1").status, 0);
    assert.equal(tidegate("exec", "-u", data, "GCRA.LIMIT", "k", "3600000", "1").status, 1);
  });
});

describe("tidegate policy", () => {
  it("check explains what each rule promises", () => {
    const { status, stdout } = tidegate("policy", "check", POLICY);
    assert.equal(status, 0);
    for (const line of [
      "  one unit every 100 ms, 5 at once after a quiet time",
      "  at most 14 in any 1 s",
      "  back to a full burst 500 ms after all of it was spent",
      "  at most 100 in each, and up to 200 in a stretch of 1 d across an edge",
    ]) {
      assert.ok(stdout.includes(`${line}\n`), `${line}\nin\n${stdout}`);
    }
  });

  it("fingerprint prints what the store would", () => {
    using engine = new Engine();
    const policy =
      '[{"limit":100,"interval":86400000,"algorithm":"fixed-window"},{"limit":10,"interval":1000,"burst":5}]';
    assert.equal(tidegate("policy", "fingerprint", POLICY).stdout, `${engine.command("VALVE.DEFINE", "ns", policy)}\n`);
  });

  it("says what is wrong with a policy, and where", () => {
    const { status, stderr } = tidegate("policy", "check", file("bad.json", '[{"limit":0,"interval":"1mo"}]'));
    assert.equal(status, 2);
    assert.match(stderr, /rate\[0\]\.limit must be an integer from 1 to 9007199254740991, not 0/);
  });
});

describe("tidegate simulate", () => {
  it("says what would be admitted of given times", () => {
    const times = [0, 0, 0, 0, 0, 0, 100, 150, 200].map((ms) => new Date(1_764_547_200_000 + ms).toISOString());
    const arrivals = file("times.txt", times.join("\n"));
    const { stdout } = tidegate("simulate", "--json", "--policy", POLICY, "--arrivals", arrivals);
    const outcomes = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { allowed: boolean; retryAfterMs: number });
    assert.deepEqual(
      outcomes.map(({ allowed }) => allowed),
      [true, true, true, true, true, false, true, false, true],
    );
    assert.equal(outcomes[5]?.retryAfterMs, 100);
  });

  it("draws a chart of Poisson arrivals that never passes the bound", () => {
    const { stdout } = tidegate("simulate", "--policy", POLICY, "--arrivals", "poisson:50", "--for", "1m");
    const [, most, bound] = /gcra, 10 per 1 s +(\d+) +(\d+)/.exec(stdout) ?? [];
    assert.equal(bound, "14");
    assert.ok(Number(most) <= 14 && Number(most) > 5, most);
    assert.equal(stdout.match(/█/g) !== null, true);
  });

  it("refuses arrivals that never come", () => {
    for (const arrivals of ["poisson:0", "poisson:many"]) {
      const { status, stderr } = tidegate("simulate", "--policy", POLICY, "--arrivals", arrivals);
      assert.equal(status, 2);
      assert.match(stderr, /^error: arrivals must be a file, or poisson:RATE/);
    }
  });
});

describe("tidegate watch, completion and help", () => {
  it("watch shows a key's remaining budget, a line a look where nobody watches", async () => {
    await using server = await startServer();
    const url = `hotkv://127.0.0.1:${server.port}`;
    tidegate("exec", "-u", url, "RATELIMIT.CREATE", "api", "4", "60000");
    tidegate("exec", "-u", url, "RATELIMIT.CHECK", "api", "k");
    const { stdout } = tidegate("watch", "-u", url, "--count", "2", "--every", "20", "api", "k");
    assert.equal(stdout, `api k ${"█".repeat(30)}${"░".repeat(10)} 3/4\n`.repeat(2));
  });

  it("completion prints scripts that the shells accept", () => {
    const script = tidegate("completion", "bash").stdout;
    const words = execFileSync(
      "bash",
      ["-c", `${script}\nCOMP_WORDS=(tidegate policy ""); COMP_CWORD=2; _tidegate; echo "\${COMPREPLY[@]}"`],
      {
        encoding: "utf8",
      },
    );
    assert.equal(words, "check fingerprint reset --help\n");
    for (const shell of ["zsh", "fish"]) assert.match(tidegate("completion", shell).stdout, /tidegate/);
    assert.equal(tidegate("completion", "tcsh").status, 2);
  });

  it("help shows examples, and a wrong option says what is allowed", () => {
    assert.match(tidegate("serve", "--help").stdout, /Examples:\n {2}\$ tidegate serve --data limits\.db\n/);
    const { status, stderr } = tidegate("serve", "--port", "70000");
    assert.equal(status, 2);
    assert.match(stderr, /must be an integer from 0 to 65535/i);
  });
});

describe("the packed package", () => {
  it("brings a tidegate that runs with nothing but its dependencies", () => {
    const folder = mkdtempSync(join(tmpdir(), "tidegate-packed-"));
    const pkg = fileURLToPath(new URL("../../pkg", import.meta.url));
    const [packed] = JSON.parse(
      execFileSync("npm", ["pack", "--json", "--pack-destination", folder], { cwd: pkg, encoding: "utf8" }),
    );
    writeFileSync(join(folder, "package.json"), '{ "private": true }');
    execFileSync("npm", ["install", "--silent", "--no-audit", "--no-fund", join(folder, packed.filename)], {
      cwd: folder,
    });
    const run = (...args: string[]) => execFileSync("npx", ["tidegate", ...args], { cwd: folder, encoding: "utf8" });
    assert.equal(run("exec", "-u", "memory:", "PING"), "PONG\n");
    assert.match(run("--version"), /^\d+\.\d+\.\d+\n$/);
  });
});
