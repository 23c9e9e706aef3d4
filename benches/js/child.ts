// One subject in a process of its own, told by turns.ts when it is its turn.

import { createHash } from "node:crypto";
import type { Ready, Turn } from "./turns.ts";

/** What a file of `scenarios/` exports: makes everything ready, and returns the function of one turn. */
export interface Scenario {
  readonly prepare: (settings: never) => Promise<() => Turn | Promise<Turn>>;
}

// The module that is compiled is told, so that the results say which build they are of.
let module: string | undefined;
const { Module } = WebAssembly;
WebAssembly.Module = new Proxy(Module, {
  construct(target, [bytes]: [BufferSource]) {
    module = createHash("sha256")
      .update(new Uint8Array("buffer" in bytes ? bytes.buffer : bytes))
      .digest("hex");
    return new target(bytes);
  },
});

const [scenario = "", settings = "{}"] = process.argv.slice(2);
const { prepare } = (await import(`./scenarios/${scenario}.ts`)) as Scenario;
const turn = await prepare(JSON.parse(settings) as never);
process.on("message", async () => process.send?.(await turn()));
process.send?.({ ...(module !== undefined && { module }) } satisfies Ready);
