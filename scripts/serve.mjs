// The Worker on this machine: wrangler and workerd, with their state in `.tidegate/`, until Ctrl-C.

import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { join } from "node:path";
import { environment, root } from "./run.mjs";
import { bold, cyan, dim, fail, say } from "./terminal.mjs";

const FIRST_PORT = 8787;
const PORTS_TRIED = 20;
/** How long the Worker may take to answer, and to end. */
const START_MS = 60_000;
const STOP_MS = 5_000;

/** Serves until the process is told to end. */
export async function serve() {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  say("starting the Worker (wrangler dev)");
  const child = spawn(
    "wrangler",
    [
      ...["dev", "--local", "--ip", "127.0.0.1", "--port", String(port), "--inspector-port", "0"],
      ...["--persist-to", join(root, ".tidegate"), "--log-level", "error", "--show-interactive-dev-session=false"],
      // Nobody but this machine can reach it.
      ...["--var", "TIDEGATE_DEV:allow-anyone"],
    ],
    { cwd: root, env: { ...environment(), ...QUIET }, stdio: ["ignore", "ignore", "inherit"], detached: true },
  );
  child.on("error", (error) => fail(`could not start wrangler: ${error.message}`));
  const ended = new Promise((done) => child.once("exit", done));
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    signal(child, "SIGTERM");
    const late = setTimeout(() => signal(child, "SIGKILL"), STOP_MS);
    await ended;
    clearTimeout(late);
    console.log(dim("\nstopped; the budgets are kept in .tidegate/"));
    process.exit(0);
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, stop);
  ended.then((status) => {
    if (!stopping) fail(`the Worker ended by itself with status ${status}`);
  });
  await answers(url);
  if (stopping) return;
  console.log(
    `${bold("Tidegate")} is at ${cyan(url)}: the playground, and the API. Paste this into another terminal:\n`,
  );
  console.log(`  curl ${url}/v1/command -d '["GCRA.LIMIT", "api:user:42", 60000, 10]'`);
  console.log(
    `  curl ${url}/v1/pipeline -d '[["RATELIMIT.CREATE", "api", 100, 60000], ["RATELIMIT.CHECK", "api", "user:42"]]'\n`,
  );
  console.log(dim("Ctrl-C stops it."));
}

const QUIET = {
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  CI: "true",
};

/** Sends a signal to wrangler and all that it started: they are a process group of their own. */
function signal(child, name) {
  try {
    process.kill(-child.pid, name);
  } catch {
    // It has ended.
  }
}

/** Waits until the Worker answers. */
async function answers(url) {
  const started = Date.now();
  while (Date.now() - started < START_MS) {
    try {
      const response = await fetch(`${url}/v1/health`);
      if (response.ok) return;
    } catch {
      // Not yet.
    }
    await new Promise((done) => setTimeout(done, 100));
  }
  fail("the Worker does not answer");
}

/** The first port from 8787 on that nobody listens on. */
async function freePort() {
  for (let port = FIRST_PORT; port < FIRST_PORT + PORTS_TRIED; port++) {
    const free = await new Promise((done) => {
      const server = createServer();
      server.once("error", () => done(false));
      server.listen(port, "127.0.0.1", () => server.close(() => done(true)));
    });
    if (free) return port;
  }
  return fail(`no port from ${FIRST_PORT} to ${FIRST_PORT + PORTS_TRIED - 1} is free`);
}
