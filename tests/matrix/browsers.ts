import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { type Browser, chromium } from "playwright-core";
import { COMMAND, root, subpaths, writeLoads } from "./install.ts";
import type { Row, Runtime } from "./runtime.ts";

const without = {
  "tidegate/express": "no server",
  "tidegate/fastify": "no server",
  "tidegate/package.json": "not a module",
  [COMMAND]: "no command line",
};

/** Bundles the folder's `page.mjs` into `out`; where the page finds what it starts with. */
type Bundle = (folder: string, out: string) => Promise<string>;

const bundlers: Readonly<Record<string, Bundle>> = {
  async Vite(folder, out) {
    const { build: viteBuild }: typeof import("vite") = await import(from("www/package.json", "vite"));
    writeFileSync(join(folder, "index.html"), '<script type="module" src="./page.mjs"></script>');
    await viteBuild({ root: folder, base: "./", logLevel: "error", build: { outDir: out, target: "esnext" } });
    return "index.html";
  },

  async webpack(folder, out) {
    const { default: webpack } = await import(from("tests/matrix/package.json", "webpack"));
    const compiler = webpack({
      mode: "production",
      context: folder,
      entry: "./page.mjs",
      output: { path: out, filename: "page.js" },
      performance: false,
    });
    const stats = await new Promise<{ hasErrors(): boolean; hasWarnings(): boolean; toString(kind: string): string }>(
      (done, failed) => compiler.run((error: unknown, result: never) => (error ? failed(error) : done(result))),
    );
    await new Promise((done) => compiler.close(done));
    if (stats.hasErrors() || stats.hasWarnings()) throw new Error(stats.toString("errors-warnings"));
    return page(out);
  },

  async esbuild(folder, out) {
    const { warnings } = await build({
      absWorkingDir: folder,
      entryPoints: ["page.mjs"],
      outdir: out,
      bundle: true,
      splitting: true,
      minify: true,
      format: "esm",
      logLevel: "silent",
    });
    if (warnings.length > 0) throw new Error(JSON.stringify(warnings));
    // It takes no file along by its URL: who streams the module puts it beside the page.
    cpSync(join(folder, "node_modules/tidegate/wasm/tidegate_bg.wasm"), join(out, "tidegate_bg.wasm"));
    return page(out);
  },
};

/** Chromium, with the program bundled by each bundler; `site` serves the files below `folder` at `origin`. */
export function browsers(site: { readonly folder: string; readonly origin: string }): Runtime[] {
  return Object.entries(bundlers).map(([name, bundle]) => ({
    name: `Chromium (${name})`,
    without,
    async open(installed, services) {
      const folder = `${installed}-${name}`;
      cpSync(installed, folder, { recursive: true });
      writeLoads(folder, ["hono", ...subpaths.filter((path) => !Object.hasOwn(without, path))]);
      writeFileSync(join(folder, "page.mjs"), PAGE);
      const out = join(site.folder, name);
      mkdirSync(out, { recursive: true });
      const start = await bundle(folder, out);
      const browser = await launch();
      return {
        use: (subpath) => {
          const place = { ...services, subpath, sockets: false, files: "none", fetched: name === "esbuild" };
          return inPage(browser, `${site.origin}/${name}/${start}`, place);
        },
        close: () => browser.close(),
      };
    },
  }));
}

const PAGE = `
import { loads } from "./loads.mjs";
import { use } from "./main.mjs";
globalThis.usePackage = (place) =>
  use(place.subpath, {
    ...place,
    load: (name) => loads[name](),
    ...(place.fetched && { module: () => fetch("tidegate_bg.wasm") }),
  });
`;

async function inPage(browser: Browser, url: string, place: object): Promise<Row> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    await page.goto(url);
    await page.waitForFunction("globalThis.usePackage", undefined, { timeout: 30_000 });
    const row = (await page.evaluate(`usePackage(${JSON.stringify(place)})`)) as Row;
    return { ...row, faults: [...row.faults, ...faults], passed: faults.length > 0 ? 0 : row.passed };
  } finally {
    await context.close();
  }
}

function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: "/usr/bin/chromium",
    // Ctrl-C is for the command, which closes it.
    handleSIGINT: false,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
  });
}

/** A page that starts `page.js`. */
function page(out: string): string {
  writeFileSync(join(out, "index.html"), '<script type="module" src="./page.js"></script>');
  return "index.html";
}

/** The module of that name as the package at `manifest` resolves it. */
function from(manifest: string, name: string): string {
  return pathToFileURL(createRequire(join(root, manifest)).resolve(name)).href;
}
