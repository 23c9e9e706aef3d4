// The peers, from the folder that has them as its own dependencies.

import { createRequire } from "node:module";

const { resolve } = createRequire(new URL("../peers/package.json", import.meta.url));

/** Imports a peer. */
export function peer<T>(name: string): Promise<T> {
  return import(resolve(name)) as Promise<T>;
}
