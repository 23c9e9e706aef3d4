// workerd: from its start to the first decision that it answers a request with.

import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle, COMPATIBILITY_DATE } from "../../tests/workerd/workerd.ts";

const program = fileURLToPath(new URL("../../node_modules/workerd/bin/workerd", import.meta.url));

const BARE = `export default { fetch: () => new Response("decided") };\n`;
const FIRST = `import { Engine } from "tidegate";
let engine;
export default {
  fetch() {
    engine ??= new Engine();
    return new Response(engine.gcraLimit("api:user:42", 60000, 10).denied ? "refused" : "decided");
  },
};
`;

function config(folder: string, port: number): string {
  const modules = readdirSync(folder)
    .filter((name) => /\.(js|wasm)$/.test(name))
    .sort((a, b) => Number(b === "index.js") - Number(a === "index.js"))
    .map((name) =>
      name.endsWith(".wasm")
        ? `(name = "./${name}", wasm = embed "${name}")`
        : `(name = "${name}", esModule = embed "${name}")`,
    );
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (modules = [${modules.join(", ")}], compatibilityDate = "${COMPATIBILITY_DATE}"))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
`;
}

/** What the server answers, as soon as there is one. */
async function answer(port: number): Promise<string> {
  const agent = new Agent({ keepAlive: false });
  for (;;) {
    const text = await new Promise<string | undefined>((done) => {
      get({ host: "127.0.0.1", port, agent }, (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (piece: string) => {
          body += piece;
        });
        response.on("end", () => done(body));
      }).on("error", () => done(undefined));
    });
    if (text !== undefined) return text;
    await new Promise((done) => setTimeout(done, 1));
  }
}

async function untilAnswered(folder: string, port: number): Promise<number> {
  const started = performance.now();
  const child = spawn(program, ["serve", join(folder, "config.capnp")], { stdio: ["ignore", "inherit", "inherit"] });
  const ended = new Promise((done) => child.once("exit", done));
  try {
    const text = await answer(port);
    if (text !== "decided") throw new Error(`workerd answered ${text}`);
    return performance.now() - started;
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
}

/** The starts of workerd that are measured. */
export async function workerdStarts(
  folder: string,
): Promise<[name: string, bare: boolean, start: () => Promise<number>][]> {
  // Where the package is found from.
  const sources = fileURLToPath(new URL("../../build/start/", import.meta.url));
  mkdirSync(sources, { recursive: true });
  const starts: [string, boolean, () => Promise<number>][] = [];
  for (const [name, text, port] of [
    ["bare", BARE, 7511],
    ["first", FIRST, 7512],
  ] as const) {
    const source = join(sources, `workerd-${name}.js`);
    writeFileSync(source, text);
    const bundled = await bundle(source, folder);
    writeFileSync(join(bundled, "config.capnp"), config(bundled, port));
    starts.push(["workerd", name === "bare", () => untilAnswered(bundled, port)]);
  }
  return starts;
}
