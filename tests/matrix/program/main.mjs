// One subpath on one runtime: what was checked, and what failed.

import { uses } from "./subpaths.mjs";

/** Uses `subpath` in `place`, whose `load` imports it. */
export async function use(subpath, place) {
  const faults = [];
  let cases = 0;
  const check = async (name, run) => {
    cases++;
    try {
      return await run();
    } catch (error) {
      faults.push(`${name}: ${error?.stack ?? error}`);
      return undefined;
    }
  };
  const module = await check("loads", () => place.load(subpath));
  const run = uses[subpath];
  if (run === undefined) await check("is used", () => Promise.reject(new Error("tests/matrix does nothing with it")));
  else if (module !== undefined) await run(module, place, check);
  return { cases, passed: cases - faults.length, faults };
}
