import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";

/** Writes the worker that keeps the page for offline use, with the names of all built files. */
function offline(): Plugin {
  return {
    name: "offline",
    apply: "build",
    enforce: "post",
    generateBundle(_, bundle) {
      const names = Object.keys(bundle).filter((name) => !name.endsWith(".map"));
      const version = createHash("sha256");
      for (const name of names.sort()) {
        const file = bundle[name];
        version.update(name).update(file?.type === "chunk" ? file.code : (file?.source ?? ""));
      }
      const files = ["./", "./icon.svg", ...names.filter((name) => name !== "index.html").map((name) => `./${name}`)];
      const source = readFileSync(new URL("src/offline/worker.js", import.meta.url), "utf8")
        .replaceAll("VERSION", JSON.stringify(version.digest("hex").slice(0, 12)))
        .replaceAll("FILES", JSON.stringify(files));
      this.emitFile({ type: "asset", fileName: "offline.js", source });
    },
  };
}

export default defineConfig({
  base: "./",
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The package's socket transport loads this when it is used, which a page can't.
    rolldownOptions: { external: ["@redis/client"] },
  },
  optimizeDeps: { exclude: ["tidegate"] },
  plugins: [offline()],
});
