import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));
const workerdBinary = join(root, "node_modules/workerd/bin/workerd");
/** How long a start may take: where the binary was never read before, that takes a slow disk several seconds. */
const START_MS = 60_000;
export const COMPATIBILITY_DATE = "2026-11-01";

/** A folder in memory where there is such a place: what a disk does is not what these tests are about. */
export function temporaryFolder(): string {
  return mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tidegate-workerd-"));
}

/** Bundles a Worker as wrangler would; the folder that holds `index.js` and the modules it imports. */
export async function bundle(entry: string, into: string): Promise<string> {
  const out = join(into, basename(entry).replace(/\.\w+$/, ""));
  await build({
    entryPoints: [isAbsolute(entry) ? entry : fileURLToPath(new URL(entry, import.meta.url))],
    outfile: join(out, "index.js"),
    bundle: true,
    minify: true,
    format: "esm",
    conditions: ["workerd"],
    external: ["cloudflare:workers"],
    loader: { ".wasm": "copy" },
    assetNames: "[name]",
    logLevel: "error",
  });
  return out;
}

/** A Worker under workerd. */
export interface WorkerOptions {
  /** The folder with `index.js` and what it imports. */
  readonly folder: string;
  /** Where objects keep their storage. */
  readonly storage: string;
  /** Its Durable Object classes by the names of their bindings. */
  readonly classes: Readonly<Record<string, string>>;
  readonly variables?: Readonly<Record<string, string>>;
}

/** workerd itself, on a port of its own. */
export class Workerd {
  readonly #options: WorkerOptions;
  #process: ChildProcess | undefined;
  url = "";

  private constructor(options: WorkerOptions) {
    this.#options = options;
  }

  static async start(options: WorkerOptions): Promise<Workerd> {
    const workerd = new Workerd(options);
    await workerd.start();
    return workerd;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** Starts it, on the storage that it had before. */
  async start(): Promise<void> {
    const { folder, storage } = this.#options;
    mkdirSync(storage, { recursive: true });
    const port = await freePort();
    const config = join(folder, `config-${port}.capnp`);
    writeFileSync(config, capnp(this.#options, port));
    const child = spawn(workerdBinary, ["serve", "--experimental", config], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    this.#process = child;
    this.url = `http://127.0.0.1:${port}`;
    const started = Date.now();
    for (;;) {
      if (child.exitCode !== null) throw new Error(`workerd ended with ${child.exitCode}`);
      try {
        await (await fetch(this.url, { headers: { "x-probe": "1" } })).arrayBuffer();
        return;
      } catch {
        if (Date.now() - started > START_MS) {
          await this.kill();
          throw new Error(`workerd does not answer within ${START_MS} ms`);
        }
        await new Promise((done) => setTimeout(done, 25));
      }
    }
  }

  /** Ends it at once, as a power cut would end a process. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = new Promise((done) => child.once("exit", done));
    child.kill("SIGKILL");
    await ended;
  }

  /** Ends it and forgets all it stored. */
  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#options.storage, { recursive: true, force: true });
  }
}

function capnp({ folder, storage, classes, variables = {} }: WorkerOptions, port: number): string {
  const modules = readdirSync(folder).filter((name) => /\.(js|wasm)$/.test(name));
  // The module that is first is the main one.
  modules.sort((a, b) => Number(b === "index.js") - Number(a === "index.js"));
  const moduleList = modules.map((name) =>
    name.endsWith(".wasm")
      ? `(name = "./${name}", wasm = embed "${name}")`
      : `(name = "${name === "index.js" ? "index.js" : `./${name}`}", esModule = embed "${name}")`,
  );
  const bindings = [
    ...Object.entries(classes).map(([name, type]) => `(name = "${name}", durableObjectNamespace = "${type}")`),
    ...Object.entries(variables).map(([name, text]) => `(name = "${name}", text = ${JSON.stringify(text)})`),
  ];
  const namespaces = [...new Set(Object.values(classes))].map(
    (type) => `(className = "${type}", uniqueKey = "tidegate-test-${type}", enableSql = true)`,
  );
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "storage", disk = (path = ${JSON.stringify(storage)}, writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [${moduleList.join(", ")}],
  compatibilityDate = "${COMPATIBILITY_DATE}",
  bindings = [${bindings.join(", ")}],
  durableObjectNamespaces = [${namespaces.join(", ")}],
  durableObjectStorage = (localDisk = "storage"),
);
`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return address !== null && typeof address === "object" ? address.port : 0;
}
