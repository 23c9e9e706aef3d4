import type { ChildProcess } from "node:child_process";
import { cpSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { start, stop } from "./children.ts";
import { COMMAND, root, subpaths, writeLoads } from "./install.ts";
import type { Runtime } from "./runtime.ts";

const START_MS = 60_000;

const without = {
  "tidegate/web": "a Worker's modules are compiled ahead: `tidegate` has it",
  "tidegate/express": "no server of Node",
  "tidegate/fastify": "no server of Node",
  "tidegate/package.json": "not a module",
  [COMMAND]: "no command line",
};

/** workerd, with the Worker bundled and served by wrangler as a user would. */
export function workerd(): Runtime {
  return {
    name: "workerd (wrangler)",
    without,
    async open(installed, services) {
      const folder = `${installed}-workerd`;
      cpSync(installed, folder, { recursive: true });
      writeLoads(folder, ["hono", ...subpaths.filter((path) => !Object.hasOwn(without, path))]);
      writeFileSync(join(folder, "worker.mjs"), WORKER);
      writeFileSync(join(folder, "wrangler.toml"), CONFIGURATION);
      const port = await freePort();
      const child = start(
        process.execPath,
        [
          join(root, "node_modules/wrangler/bin/wrangler.js"),
          ...["dev", "--local", "--ip", "127.0.0.1", "--port", String(port), "--inspector-port", "0"],
          ...["--log-level", "error", "--show-interactive-dev-session=false"],
        ],
        {
          cwd: folder,
          env: { ...process.env, WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false", CI: "true" },
          stdio: ["ignore", "ignore", "inherit"],
        },
      );
      const url = `http://127.0.0.1:${port}`;
      await answers(url, child);
      return {
        async use(subpath) {
          const place = { ...services, subpath, sockets: false, files: "none" };
          const response = await fetch(url, { method: "POST", body: JSON.stringify(place) });
          if (!response.ok) throw new Error(`the Worker answered ${response.status}: ${await response.text()}`);
          return (await response.json()) as never;
        },
        async close() {
          stop(child);
        },
      };
    },
  };
}

const WORKER = `
import { loads } from "./loads.mjs";
import { use } from "./main.mjs";
export { TidegateObject } from "tidegate/workers";
export default {
  async fetch(request, env) {
    if (request.method === "GET") return new Response("ready");
    const place = await request.json();
    return Response.json(await use(place.subpath, { ...place, binding: env.TIDEGATE, load: (name) => loads[name]() }));
  },
};
`;

const CONFIGURATION = `
name = "tidegate-matrix"
main = "worker.mjs"
compatibility_date = "2026-11-01"
durable_objects.bindings = [{ name = "TIDEGATE", class_name = "TidegateObject" }]
migrations = [{ tag = "v1", new_sqlite_classes = ["TidegateObject"] }]
`;

async function answers(url: string, child: ChildProcess): Promise<void> {
  for (const started = Date.now(); Date.now() - started < START_MS; ) {
    if (child.exitCode !== null) throw new Error(`wrangler dev ended with ${child.exitCode}`);
    try {
      if ((await fetch(url)).ok) return;
    } catch {
      // Not yet.
    }
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error("wrangler dev does not answer");
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return address !== null && typeof address === "object" ? address.port : 0;
}
