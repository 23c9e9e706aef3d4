/**
 * `tidegate` for a browser without a bundler: the module is fetched, so {@link init} comes first.
 *
 * @module tidegate/web
 */

import { instantiate, isReady } from "./module.ts";

export * from "./index.ts";

/**
 * Makes the module ready: call it once and await it before the first `Engine` or `HotKV`. In a browser the module is
 * streamed from where the package's files are; pass a URL, a response, bytes or a compiled module to take it from there.
 */
export async function init(
  from: URL | string | Response | PromiseLike<Response> | BufferSource | WebAssembly.Module = new URL(
    "../wasm/tidegate_bg.wasm",
    import.meta.url,
  ),
): Promise<void> {
  if (isReady()) return;
  const given = await from;
  if (given instanceof WebAssembly.Module) return instantiate(given);
  if (typeof given === "string" || given instanceof URL || given instanceof Response) {
    instantiate(await compile(given instanceof Response ? given : await fetch(given)));
    return;
  }
  instantiate(await WebAssembly.compile(given));
}

async function compile(response: Response): Promise<WebAssembly.Module> {
  if (!response.ok) throw new Error(`could not fetch ${response.url}: ${response.status} ${response.statusText}`);
  const streams = response.headers.get("content-type")?.startsWith("application/wasm") ?? false;
  return streams ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}
