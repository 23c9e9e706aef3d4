import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { bundle, temporaryFolder, Workerd } from "../workerd/workerd.ts";
import { counts, launch, open, picture } from "./browser.ts";
import { type Served, serve } from "./serve.ts";

const BUILT = fileURLToPath(new URL("../../build/worker/index.js", import.meta.url));
const TOKEN = "s3cret";

describe("against a Durable Object in workerd", () => {
  const folder = temporaryFolder();
  let workerd: Workerd;
  let served: Served;
  let browser: Browser;

  before(async () => {
    workerd = await Workerd.start({
      folder: await bundle(BUILT, folder),
      storage: join(folder, "storage"),
      classes: { TIDEGATE: "TidegateObject" },
      variables: { TIDEGATE_TOKEN: TOKEN },
    });
    served = await serve();
    // The page and the API on one origin, as when the Worker serves both.
    served.command = async (args, authorization) => {
      const headers = authorization === undefined ? {} : { authorization };
      const body = JSON.stringify(args);
      const answer = await fetch(`${workerd.url}/v1/command`, { method: "POST", body, headers });
      return { status: answer.status, body: await answer.json() };
    };
    browser = await launch();
  });
  after(async () => {
    await browser.close();
    await served.close();
    await workerd.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  const lanes = { command: "g3.60000.3", limiter: "s3.60000", policy: "g3.60000.3*f5.86400000" };
  for (const [kind, lane] of Object.entries(lanes)) {
    test(`${kind}: the store admits what the lane beside it admits`, async () => {
      const fragment = `#v=1&p=edge&l=${lane}&z=1796083199990.1796083200010&t=1796083200010`;
      const [page, faults] = await open(browser, served.url + fragment);
      const panel = page.locator(".panel", { has: page.getByRole("heading", { name: "Against the real store" }) });
      await panel.getByLabel("Token").fill(TOKEN);
      await panel.getByRole("button", { name: "Connect", exact: true }).click();
      await panel.getByText("Connected;").waitFor();
      for (let press = 1; press <= 5; press++) {
        await panel.getByRole("button", { name: "Send a request" }).click();
        await panel
          .getByText(`${press} answers;`)
          .or(panel.getByText(`${press} answer;`))
          .waitFor();
      }
      const rows = await counts(page);
      const [first, real] = [rows[0], rows.at(-1)];
      assert.equal(real?.name, "The real store");
      assert.deepEqual([first?.admitted, first?.refused], [3, 2]);
      assert.deepEqual([real?.admitted, real?.refused], [3, 2]);
      await picture(page, `durable-object-${kind}`);
      assert.deepEqual(faults, []);
      await page.context().close();
    });
  }
});
