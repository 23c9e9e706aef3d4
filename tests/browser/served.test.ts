import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { npmStart, type Started } from "../npm-start.ts";
import { counts, launch, open } from "./browser.ts";

describe("the page that npm start's Worker serves", () => {
  let started: Started;
  let browser: Browser;
  before(async () => {
    started = await npmStart();
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await started?.stop();
  });

  test("asks the Worker it came from, which admits what the lane beside it admits", async () => {
    const fragment = "/#v=1&p=edge&l=g3.60000.3&z=1796083199990.1796083200010&t=1796083200010";
    const [page, faults] = await open(browser, started.url + fragment);
    const panel = page.locator(".panel", { has: page.getByRole("heading", { name: "Against the real store" }) });
    await panel.getByRole("button", { name: "Connect", exact: true }).click();
    await panel.getByText("Connected;").waitFor();
    for (let press = 1; press <= 5; press++) {
      await panel.getByRole("button", { name: "Send a request" }).click();
      await panel
        .getByText(`${press} answers;`)
        .or(panel.getByText(`${press} answer;`))
        .waitFor();
    }
    const real = (await counts(page)).at(-1);
    assert.deepEqual([real?.name, real?.admitted, real?.refused], ["The real store", 3, 2]);
    assert.deepEqual(faults, []);
  });
});
