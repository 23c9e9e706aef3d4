// Chromium: from a navigation to the first decision of the page's script, nothing cached.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { build } from "esbuild";
import { launch } from "../../tests/browser/browser.ts";
import { BARE, decides, fileFor } from "./entry.ts";

/** The starts of a page that are measured, and what ends the browser. */
export async function chromiumStarts(): Promise<{
  starts: [name: string, bare: boolean, start: () => Promise<number>][];
  close: () => Promise<void>;
}> {
  const scripts: Record<string, string> = {};
  for (const [name, contents] of [
    ["/bare.js", BARE],
    ["/first.js", decides(fileFor(".", "browser"))],
  ] as const) {
    const { outputFiles } = await build({
      stdin: {
        contents: contents.replaceAll("console.log(", "globalThis.told = performance.now(); console.log("),
        resolveDir: "/",
      },
      bundle: true,
      minify: true,
      format: "esm",
      write: false,
    });
    scripts[name] = outputFiles[0]?.text ?? "";
  }
  const server = createServer(({ url = "" }, response) => {
    const script = scripts[url];
    response.setHeader("cache-control", "no-store");
    response.setHeader("content-type", script === undefined ? "text/html" : "text/javascript");
    response.end(
      script ?? `<!doctype html><title>start</title><script type="module" src="${url.slice(1)}.js"></script>`,
    );
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const browser = await launch();
  const visit = async (path: string): Promise<number> => {
    // A context of its own has a cache of its own.
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${port}/${path}`);
    const told = await page.waitForFunction(() => (globalThis as { told?: number }).told);
    const took = Number(await told.jsonValue());
    await context.close();
    return took;
  };
  return {
    starts: [
      ["Chromium", true, () => visit("bare")],
      ["Chromium", false, () => visit("first")],
    ],
    close: async () => {
      await browser.close();
      await new Promise((done) => server.close(done));
    },
  };
}
