// Everything that must be there before something runs, made when it is missing or its sources changed. Each step leaves a
// stamp, the hash of what it was made from, so that a second run does nothing.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { output, root, run } from "./run.mjs";
import { dim, fail, say, seconds } from "./terminal.mjs";

const WASM_TARGET = "wasm32-unknown-unknown";
/** A processor without an operating system. */
export const EMBEDDED_TARGET = "thumbv7em-none-eabi";
/** Standard output is for what was asked for. */
const toStderr = { stdout: 2 };

/** Installs what npm installs. */
export async function ensureInstalled() {
  const packages = ["package.json", ...workspaces().map((workspace) => `${workspace}/package.json`)];
  await step({
    made: "node_modules",
    from: ["package-lock.json", ".npmrc", ...packages],
    what: "installing development dependencies (npm ci)",
    make: () => run("npm", ["ci", "--loglevel=error"], toStderr),
  });
}

/** Builds the WebAssembly module, in `pkg/wasm`. */
export async function ensureWasm() {
  await ensureInstalled();
  await step({
    made: "pkg/wasm",
    from: ["src", "Cargo.toml", "Cargo.lock", ".cargo", "xtask", "package-lock.json"],
    what: "compiling the engine to WebAssembly (cargo xtask wasm); a minute or two the first time",
    make: async () => {
      await ensureRust();
      return run("cargo", ["run", "--package", "xtask", "--", "wasm"], toStderr);
    },
  });
}

/** Builds the npm package, in `pkg/dist`. */
export async function ensurePackage() {
  await ensureWasm();
  await step({
    made: "pkg/dist",
    from: ["pkg/src", "pkg/package.json", "pkg/tsconfig.json", "tsconfig.base.json", "pkg/wasm/.made-from"],
    what: "compiling the npm package (tsc)",
    make: () => {
      rmSync(join(root, "pkg/dist"), { recursive: true, force: true });
      return run("tsc", ["--project", "pkg"], toStderr);
    },
  });
}

/** Installs what writes the package's reference: typedoc, which needs a TypeScript of its own. */
export async function ensureReference() {
  await step({
    made: "docs/reference/node_modules",
    from: ["docs/reference/package.json", "docs/reference/package-lock.json", ".npmrc"],
    what: "installing what writes the reference (npm ci)",
    make: () => run("npm", ["ci", "--loglevel=error", "--prefix", "docs/reference"], toStderr),
  });
}

/** The clients of Redis that the server is tested with: redis-cli from Debian, and the one for Python. */
export async function ensureRedisClients() {
  await ensurePackage();
  if (output("redis-cli", ["--version"]) === undefined) await installDebian("redis-tools");
  if (output("python3", ["-c", "import redis"]) !== undefined) return;
  if (output("python3", ["-m", "pip", "--version"]) === undefined) await installDebian("python3-pip");
  say("installing the Redis client for Python (pip)");
  const pip = ["-m", "pip", "install", "--quiet", "--root-user-action", "ignore", "--break-system-packages", "redis"];
  if ((await run("python3", pip, toStderr)) !== 0) fail("pip could not install the Redis client for Python");
}

/** Debian's valgrind, which counts instructions. */
export async function ensureInstructionCounter() {
  await ensureInstalled();
  await ensureRust();
  if (output("valgrind", ["--version"]) === undefined) await installDebian("valgrind");
}

/** Redis, which the server is measured beside. */
export async function ensureRedis() {
  await ensurePackage();
  if (output("redis-server", ["--version"]) === undefined) await installDebian("redis-server");
  if (output("redis-benchmark", ["--version"]) === undefined) await installDebian("redis-tools");
}

/** The peers of the benchmarks, in a folder of their own. */
export async function ensurePeers() {
  await ensurePackage();
  await step({
    made: "benches/peers/node_modules",
    from: ["benches/peers/package.json", "benches/peers/package-lock.json"],
    what: "installing the peers that benchmarks run beside (npm ci)",
    make: () => run("npm", ["ci", "--ignore-scripts", "--prefix", "benches/peers"], toStderr),
  });
}

/** The runtimes that the package starts in. */
export async function ensureRuntimes() {
  await ensurePeers();
  if (!existsSync("/usr/bin/chromium")) await installDebian("chromium");
}

/** Builds the playground, in `www/dist`. */
export async function ensurePlayground() {
  await ensurePackage();
  await step({
    made: "www/dist",
    from: ["www/src", "www/public", "www/index.html", "www/vite.config.ts", "www/package.json", "pkg/dist/.made-from"],
    what: "building the playground (vite)",
    make: () => run("vite", ["build", "--logLevel", "warn", "www"], toStderr),
  });
}

/** The playground and Debian's Chromium, which shows it to its tests. */
export async function ensureBrowser() {
  await ensurePlayground();
  if (!existsSync("/usr/bin/chromium")) await installDebian("chromium");
}

/** Everything that the packed package is used on. */
export async function ensureMatrix() {
  await ensureBrowser();
  await ensureWorker();
  await step({
    made: "tests/matrix/node_modules",
    from: ["tests/matrix/package.json", "tests/matrix/package-lock.json"],
    what: "installing the runtimes and bundlers of the matrix (npm ci)",
    make: () => run("npm", ["ci", "--prefix", "tests/matrix"], toStderr),
  });
}

/** Installs a Debian package, which only root can do. */
async function installDebian(name) {
  say(`installing the Debian package ${name} (apt-get)`);
  const quiet = { stdout: "ignore" };
  await run("apt-get", ["update", "-qq"], quiet);
  if ((await run("apt-get", ["install", "--yes", "-qq", name], quiet)) !== 0) {
    fail(`apt-get could not install ${name}; install it by hand, then run this again`);
  }
}

/** Builds the deployable Worker, in `build/worker`. */
export async function ensureWorker() {
  await ensureInstalled();
  await step({
    made: "build/worker",
    from: ["src", "Cargo.toml", "Cargo.lock", ".cargo", "xtask", "package-lock.json"],
    what: "compiling the Worker (cargo xtask worker); two minutes or three the first time",
    make: async () => {
      await ensureRust();
      return run("cargo", ["run", "--package", "xtask", "--", "worker"], toStderr);
    },
  });
}

/** What the core is built for to prove that it needs no std. */
export async function ensureEmbeddedTarget() {
  await ensureTarget(EMBEDDED_TARGET, "builds the core where there is no std");
}

async function ensureRust() {
  await ensureTarget(WASM_TARGET, "compiles the engine to WebAssembly");
}

async function ensureTarget(target, what) {
  const sysroot = output("rustc", ["--print", "sysroot"]);
  if (sysroot === undefined) fail("Rust is missing: install it with rustup, then run this again");
  if (existsSync(join(sysroot, "lib/rustlib", target))) return;
  say(`adding the ${target} target (rustup)`);
  if ((await run("rustup", ["target", "add", target], toStderr)) !== 0) {
    fail(`rustup could not add the ${target} target, which ${what}`);
  }
}

/** Makes the folder `made` unless it was made from the files `from` as they are. */
async function step({ made, from, what, make }) {
  const stamp = join(root, made, ".made-from");
  const hash = hashOf(from);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === hash) return;
  say(what);
  const started = performance.now();
  if ((await make()) !== 0) fail(`that failed: ${what}`);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, hash);
  console.error(dim(`  done in ${seconds(performance.now() - started)}`));
}

function hashOf(paths) {
  const hash = createHash("sha256");
  for (const file of paths.flatMap(filesIn))
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update("\0");
  return hash.digest("hex");
}

/** The files at `path`, sorted; none when there is nothing. */
function filesIn(path) {
  const found = statSync(join(root, path), { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (found.isFile()) return [path];
  return readdirSync(join(root, path))
    .sort()
    .flatMap((name) => filesIn(`${path}/${name}`));
}

function workspaces() {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8")).workspaces;
}
