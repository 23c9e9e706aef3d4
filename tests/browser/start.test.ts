import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { counts, launch, settled } from "./browser.ts";
import { type Served, serve } from "./serve.ts";

describe("the page starts, or says why it can’t", () => {
  let served: Served;
  let browser: Browser;

  before(async () => {
    served = await serve();
    browser = await launch();
  });
  after(async () => {
    await browser.close();
    await served.close();
  });

  test("without its engine it says so, instead of waiting for it forever", async () => {
    const page = await browser.newPage();
    await page.route("**/*.wasm", (route) => route.fulfill({ status: 503 }));
    await page.goto(served.url);
    await page.getByText("The engine could not start: could not fetch").waitFor();
    assert.equal(await page.getByText("Starting the engine").count(), 0);
    await page.close();
  });

  test("where the browser keeps nothing it shows everything, and a theme holds until the page is left", async () => {
    const page = await browser.newPage({ colorScheme: "dark" });
    await page.addInitScript(() => {
      Object.defineProperty(window, "localStorage", {
        get() {
          throw new DOMException("The operation is insecure.", "SecurityError");
        },
      });
    });
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    await page.goto(served.url);
    await page.locator(".stage").waitFor();
    await settled(page);
    assert.equal((await counts(page))[0]?.admitted, 200);
    await page.getByRole("button", { name: "Light theme" }).click();
    await settled(page);
    assert.equal(await page.evaluate(() => document.documentElement.dataset["theme"]), "light");
    await page.emulateMedia({ colorScheme: "light" });
    await page.emulateMedia({ colorScheme: "dark" });
    await settled(page);
    assert.equal(await page.getByRole("button", { name: "Dark theme" }).count(), 1);
    assert.deepEqual(faults, []);
    await page.close();
  });

  test("where the browser has no Symbol.dispose, as Safari, a policy's fingerprint shows all the same", async () => {
    const page = await browser.newPage();
    await page.addInitScript(() => {
      // They can't be deleted, but `Symbol` itself can be another.
      const make = Symbol;
      const { dispose, asyncDispose, ...older } = Object.getOwnPropertyDescriptors(Symbol);
      Object.assign(window, { Symbol: Object.defineProperties((text?: string) => make(text), older) });
    });
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    await page.goto(served.url);
    await settled(page);
    assert.equal(await page.evaluate(() => "dispose" in Symbol), false);
    await page.getByRole("button", { name: "Several quotas at once", exact: true }).click();
    await settled(page);
    const commands = await page.getByLabel("Commands, lane", { exact: true }).textContent();
    assert.match(commands ?? "", /^VALVE\.ADMIT api \S+/m);
    assert.deepEqual(faults, []);
    await page.close();
  });
});
