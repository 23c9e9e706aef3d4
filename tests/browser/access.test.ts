import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launch, open, picture, settled } from "./browser.ts";
import { type Served, serve } from "./serve.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

describe("everyone can use the page", () => {
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

  async function violations(page: Page): Promise<string[]> {
    await page.evaluate(AXE);
    const found = await page.evaluate(async () => {
      const { axe } = window as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } };
      return (await axe.run()).violations;
    });
    return found.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    );
  }

  const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };
  const looks = {
    light: {},
    dark: { colorScheme: "dark" },
    "phone-light": phone,
    "phone-dark": { ...phone, colorScheme: "dark" },
  } as const;

  for (const [name, options] of Object.entries(looks)) {
    test(`${name}: axe finds nothing, at the front door and with a policy whose rules are open`, async () => {
      const [page, faults] = await open(browser, served.url, options);
      await picture(page, `home-${name}`, true);
      assert.deepEqual(await violations(page), []);
      await page.getByRole("button", { name: "Several quotas at once" }).click();
      await settled(page);
      for (const tools of await page.locator(".tools summary").all()) await tools.click();
      await page.locator("[data-row='1'] .chart").focus();
      await page.keyboard.press("End");
      await settled(page);
      await picture(page, `policy-${name}`, true);
      assert.deepEqual(await violations(page), []);
      const wide = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      assert.equal(wide, 0, "nothing scrolls sideways");
      assert.deepEqual(faults, []);
      await page.context().close();
    });
  }

  test("nothing scrolls sideways on the narrowest screens", async () => {
    const [page] = await open(browser, served.url, { viewport: { width: 320, height: 640 } });
    await page.getByRole("button", { name: "Add another quota" }).click();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(wide, 0);
    await page.context().close();
  });

  test("axe finds nothing while requests are sent, painted, or described by a wrong quota", async () => {
    const [page] = await open(browser, served.url);
    await page.getByRole("button", { name: "Send a request" }).click();
    await page.getByLabel("What the documentation says").fill("10 per second and 5,000 per day");
    await page.getByLabel("Quota 2, units", { exact: true }).fill("0");
    await page.getByLabel("Quota 2, units", { exact: true }).blur();
    await page.getByText("Keyboard", { exact: true }).click();
    await page.locator(".fault").waitFor();
    assert.deepEqual(await violations(page), []);
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Paint" }).click();
    await settled(page);
    await page.locator("[data-row='0'] .chart").hover();
    assert.deepEqual(await violations(page), []);
    await page.context().close();
  });

  test("who asked for less motion sees a few still pictures a second", async () => {
    const [page] = await open(browser, served.url, { reducedMotion: "reduce" });
    await page.getByRole("button", { name: "To the start" }).click();
    await settled(page);
    const moves = await page.evaluate(async () => {
      const seen = new Set<string>();
      (document.querySelector("[aria-label='Play']") as HTMLElement).click();
      const until = performance.now() + 2000;
      while (performance.now() < until) {
        // Looking at requests meanwhile makes nothing move more.
        document.querySelector(".chart")?.dispatchEvent(new PointerEvent("pointermove", { clientX: 9 * seen.size }));
        seen.add((document.querySelector(".present") as HTMLElement).style.transform);
        await new Promise(requestAnimationFrame);
      }
      return seen.size;
    });
    assert.ok(moves >= 2 && moves <= 6, `${moves} positions in two seconds`);
    await page.context().close();
  });

  test("the theme is what the system asks for until one is chosen, and the choice is kept", async () => {
    const [page] = await open(browser, served.url, { colorScheme: "dark" });
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await ground();
    await page.getByRole("button", { name: "Light theme" }).click();
    await settled(page);
    const light = await ground();
    assert.notEqual(light, dark);
    await page.reload();
    await settled(page);
    assert.equal(await ground(), light);
    await page.context().close();
  });

  test("a touch on a preset works on a phone, and rows keep the page scrollable", async () => {
    const [page, faults] = await open(browser, served.url, phone);
    await page.getByRole("button", { name: "Steady overload" }).tap();
    await settled(page);
    await page.locator("[data-row='0'] .chart").tap();
    await settled(page);
    await picture(page, "phone-touched");
    assert.deepEqual(faults, []);
    await page.context().close();
  });
});
