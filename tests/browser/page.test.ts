import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { counts, exported, launch, open, picture, saved, settled } from "./browser.ts";
import { Model } from "./model.ts";
import { type Served, serve } from "./serve.ts";

describe("the page", () => {
  let served: Served;
  let browser: Browser;
  let page: Page;
  let faults: string[];

  before(async () => {
    served = await serve();
    browser = await launch();
  });
  after(async () => {
    await browser.close();
    await served.close();
  });
  afterEach(async () => {
    await page.context().close();
    assert.deepEqual(faults, []);
  });

  async function visit(options: BrowserContextOptions = {}, fragment = ""): Promise<void> {
    [page, faults] = await open(browser, served.url + fragment, { acceptDownloads: true, ...options });
  }

  test("requests are painted with the pointer, erased, and undone", async () => {
    await visit();
    await page.getByRole("button", { name: "Clear all requests" }).click();
    await settled(page);
    assert.deepEqual(
      (await counts(page)).map(({ admitted }) => admitted),
      [0, 0, 0],
    );
    await page.getByRole("button", { name: "Paint" }).click();
    const drag = async (from: number, to: number) => {
      await page.locator(".axis").scrollIntoViewIfNeeded();
      const box = await page.locator(".axis").boundingBox();
      assert.ok(box !== null);
      await page.mouse.move(box.x + from, box.y + 20);
      await page.mouse.down();
      for (let x = from; x !== to; x += Math.sign(to - from) * 10) await page.mouse.move(box.x + x, box.y + 20);
      await page.mouse.move(box.x + to, box.y + 20);
      await page.mouse.up();
      await settled(page);
    };
    await drag(100, 400);
    const painted = (await exported(page)).lanes[0]?.tracks[0]?.times.length ?? 0;
    // One at the press, then one every six pixels.
    assert.equal(painted, 51);
    await picture(page, "painted");
    await page.getByRole("button", { name: "Erase" }).click();
    await drag(250, 420);
    const left = (await exported(page)).lanes[0]?.tracks[0]?.times ?? [];
    assert.ok(left.length > 10 && left.length < painted, String(left.length));
    await page.getByRole("button", { name: "Undo" }).click();
    await settled(page);
    assert.equal((await exported(page)).lanes[0]?.tracks[0]?.times.length, painted);
  });

  test("the address brings everything back in another tab", async () => {
    await visit();
    await page.getByRole("button", { name: "Steady overload" }).click();
    await page.getByLabel("Rate", { exact: true }).fill("35");
    await settled(page);
    await page.locator("[data-row='1'] summary").click();
    await page.getByLabel("Fixed window, limit").fill("17");
    await page.getByLabel("Fixed window, limit").blur();
    await page.getByRole("button", { name: "Zoom in" }).click();
    await page.getByRole("slider", { name: "The present", exact: true }).fill("400");
    await page.waitForTimeout(500);
    const before = await exported(page);
    const address = page.url();
    assert.match(address, /#v=1&p=overload&r=35&l=g10\.1000\.1~f17\.1000~/);
    const [other, otherFaults] = await open(browser, address, { acceptDownloads: true });
    assert.deepEqual(await exported(other), before);
    assert.deepEqual(otherFaults, []);
    await other.context().close();
  });

  test("painted requests come back by their address too", async () => {
    await visit();
    await page.getByLabel("One ISO time").fill("1796083200000\n1796083200500\n2026-12-01T00:00:00.500Z");
    await page.getByRole("button", { name: "Use these times" }).click();
    await settled(page);
    await page.waitForTimeout(400);
    const before = await exported(page);
    assert.deepEqual(before.lanes[0]?.tracks[0]?.times, [1_796_083_200_000, 1_796_083_200_500, 1_796_083_200_500]);
    const [other] = await open(browser, page.url(), { acceptDownloads: true });
    assert.deepEqual(await exported(other), before);
    await other.context().close();
  });

  test("a damaged link opens the front door and says what is wrong", async () => {
    await visit({}, "#v=1&p=edge&l=q1.2&z=1.2&t=1");
    assert.match((await page.locator(".notice").textContent()) ?? "", /can’t be read: no algorithm is called "q"/);
    assert.equal((await counts(page))[0]?.admitted, 200);
  });

  test("everything works with the keyboard alone", async () => {
    await visit();
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Skip to the chart");
    const chart = page.locator("[data-row='1'] .chart");
    const reached = await tabTo(page, "[data-row='1'] .chart");
    assert.ok(reached, "a row is reached by Tab");
    await page.keyboard.press("End");
    await settled(page);
    assert.match(
      (await chart.getAttribute("aria-valuetext")) ?? "",
      /Request 200 of 200.*refused, may retry in 23 h 59 min 59.999 s/,
    );
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    await settled(page);
    assert.match((await chart.getAttribute("aria-valuetext")) ?? "", /Request 2 of 200.*23:59:59.999, admitted/);
    assert.match((await page.locator(".hint").textContent()) ?? "", /Request 2 of 200/);
    await picture(page, "keyboard");
    await page.keyboard.press("Enter");
    await settled(page);
    assert.equal((await counts(page))[0]?.admitted, 100);
    await page.keyboard.press("Escape");
    assert.ok(await tabTo(page, ".axis", true), "the arrivals are reached by Shift+Tab");
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await settled(page);
    assert.equal((await exported(page)).lanes[0]?.tracks[0]?.times.length, 201);
    await page.locator(".axis").focus();
    await page.keyboard.press("Delete");
    await settled(page);
    assert.equal((await exported(page)).lanes[0]?.tracks[0]?.times.length, 200);
    await page.locator(".axis").focus();
    await page.keyboard.press("Control+z");
    await settled(page);
    assert.equal((await exported(page)).lanes[0]?.tracks[0]?.times.length, 201);
  });

  test("who skips to the chart finds there what was shown", async () => {
    await visit();
    await page.getByRole("button", { name: "Steady overload" }).click();
    await settled(page);
    const before = await exported(page);
    await page.locator(".skip").focus();
    await page.keyboard.press("Enter");
    await settled(page);
    assert.equal(await page.evaluate(() => document.activeElement?.id), "stage");
    assert.deepEqual(await exported(page), before);
  });

  test("the space bar sends a request now, and every rule answers aloud", async () => {
    await visit({}, "#v=1&p=edge&l=g2.60000.2~f3.3600000&z=1796083199990.1796083200010&t=1796083200010");
    for (let press = 0; press < 5; press++) {
      await page.keyboard.press("Space");
      await page.waitForTimeout(40);
    }
    const heard = (await page.locator(".notice").textContent()) ?? "";
    assert.match(heard, /GCRA refused it, retry in 29\.\d+ s\. Fixed window refused it, retry in /);
    await picture(page, "live");
    await page.getByRole("button", { name: "Pause" }).click();
    await settled(page);
    const rows = await counts(page);
    assert.deepEqual(
      rows.map(({ admitted, refused }) => [admitted, refused]),
      [
        [2, 3],
        [3, 2],
      ],
    );
  });

  test("what was shown comes back from sending, by undoing it, and with Shift nothing is undone", async () => {
    await visit();
    const before = await exported(page);
    await page.locator("[data-row='0'] summary").click();
    await page.locator("[data-row='0']").getByRole("button", { name: "Remove", exact: true }).click();
    await settled(page);
    await page.locator(".stage").focus();
    await page.keyboard.press("Space");
    await settled(page);
    assert.equal((await exported(page)).lanes[0]?.tracks[0]?.times.length, 1);
    await page.keyboard.press("Control+Shift+z");
    await settled(page);
    assert.equal((await exported(page)).lanes[0]?.tracks[0]?.times.length, 1);
    await page.keyboard.press("Control+z");
    await page.getByRole("button", { name: "Play", exact: true }).waitFor();
    await page.keyboard.press("Control+z");
    await settled(page);
    assert.deepEqual(await exported(page), before);
  });

  test("Fit shows all requests, retries too, after any zoom", async () => {
    await visit({}, "#v=1&p=edge&l=g10.1000.1!h500&z=1796083199990.1796083200010&t=1796083200010");
    await page.getByRole("button", { name: "Fit" }).click();
    await settled(page);
    const retried = await exported(page);
    const last = retried.lanes[0]?.tracks[0]?.times.at(-1) ?? 0;
    assert.ok(last > 1_796_083_209_000, "clients try for ten seconds");
    assert.ok(retried.view.from <= 1_796_083_199_999 && retried.view.to > last, JSON.stringify(retried.view));
    await page.getByRole("slider", { name: "The present", exact: true }).fill("1000");
    await settled(page);
    const all = retried.lanes[0]?.tracks[0]?.times.length;
    assert.deepEqual(
      (await counts(page)).map(({ admitted, refused }) => admitted + refused),
      [all],
    );

    await page.getByLabel("One ISO time").fill("1796083200000\n1796083200500");
    await page.getByRole("button", { name: "Use these times" }).click();
    await page.getByLabel("Refused clients").evaluate((select) => {
      (select as HTMLSelectElement).value = "never";
      select.dispatchEvent(new Event("change"));
    });
    await settled(page);
    for (let press = 0; press < 6; press++) await page.getByRole("button", { name: "Zoom out" }).click();
    await page.getByRole("button", { name: "Fit" }).click();
    await settled(page);
    const { view, playhead } = await exported(page);
    assert.deepEqual(view, { from: 1_796_083_199_980, to: 1_796_083_200_520 });
    assert.ok(playhead >= view.from && playhead <= view.to);
  });

  test("time plays, pauses, steps and is scrubbed", async () => {
    await visit();
    await page.getByRole("button", { name: "Random traffic" }).click();
    await page.getByRole("button", { name: "To the start" }).click();
    await settled(page);
    const admitted = async () => (await counts(page))[3]?.admitted ?? -1;
    assert.equal(await admitted(), 0);
    const { times = [], fate = [] } = (await exported(page)).lanes[3]?.tracks[0] ?? {};
    await page.getByRole("button", { name: "To the next request" }).click();
    await settled(page);
    assert.equal(await admitted(), fate[0]);
    await page.getByLabel("Speed").selectOption("10");
    await page.getByRole("button", { name: "Play", exact: true }).click();
    await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
    await page.getByRole("button", { name: "Play", exact: true }).waitFor({ timeout: 20_000 });
    await settled(page);
    assert.equal(await admitted(), fate.filter((each) => each === 1).length);
    await page.getByRole("button", { name: "To the request before" }).click();
    await settled(page);
    assert.equal(await admitted(), fate.filter((each) => each === 1).length);
    await page.getByRole("button", { name: "To the request before" }).click();
    await settled(page);
    const last = times.at(-1) ?? 0;
    assert.equal(await admitted(), fate.filter((each, index) => each === 1 && (times[index] ?? 0) < last).length);
  });

  test("rules are changed, combined, added and removed; what the engine refuses is said and not taken", async () => {
    await visit();
    await page.getByRole("button", { name: "Random traffic" }).click();
    await settled(page);
    await page.locator("[data-row='0'] summary").click();
    await page.getByRole("button", { name: "Combine with another rule" }).first().click();
    await settled(page);
    const policy = (await exported(page)).lanes[0];
    assert.equal(policy?.rules.length, 2);
    const model = new Model(policy.rules);
    const decided = policy.tracks[0]?.times.map((time) => (model.decide(time, 1).allowed ? 1 : 0));
    assert.deepEqual(policy.tracks[0]?.fate, decided);
    await page.locator("[data-row='1'] summary").click();
    await page.getByLabel("GCRA, burst").first().fill("0");
    await page.getByLabel("GCRA, burst").first().blur();
    await settled(page);
    assert.match((await page.locator(".notice").textContent()) ?? "", /burst/);
    assert.equal((await exported(page)).lanes[0]?.rules[0]?.burst, 1);
    await page.getByLabel("GCRA, burst").first().fill("2");
    await page.getByLabel("GCRA, burst").first().blur();
    await settled(page);
    assert.equal(await page.locator(".notice").textContent(), "", "what was refused is said no longer");
    await page.getByRole("button", { name: "Add a rule to compare" }).click();
    await settled(page);
    assert.equal((await exported(page)).lanes.length, 5);
  });

  test("one request is called one", async () => {
    await visit();
    await page.getByLabel("One ISO time").fill("1796083200000\nnothing");
    await page.getByRole("button", { name: "Use these times" }).click();
    await settled(page);
    assert.match((await page.locator("h1").textContent()) ?? "", /^Of 1 request these rules admit 1,/);
    assert.equal(
      await page.locator(".notice").textContent(),
      "1 request read. Without a time: 1 line, the first: nothing",
    );
    assert.equal(await page.locator(".axis-row p").first().textContent(), "1 request for each rule");
  });

  test("a rule of a policy that goes over its limit is not passed over in the headline", async () => {
    const lanes = "s100.86400000~f100.86400000*f1000.864000000";
    await visit({}, `#v=1&p=edge&l=${lanes}&z=1796083199990.1796083200010&t=1796083200010`);
    assert.match(
      (await page.locator("h1").textContent()) ?? "",
      /fixed window of\s+100 per 24.h let\s+200 through in 1.ms/,
    );
  });

  test("a bucket with a rate of its own is held to that rate, not to its size", async () => {
    // 50 a second into a bucket of 20 that recovers 100 a second: nothing is over anything.
    await visit({}, "#v=1&p=overload&r=50&l=t20.4000.100&z=1796126399500.1796126406500&t=1796126406500");
    assert.match((await page.locator("h1").textContent()) ?? "", /none goes over its limit/);
    assert.doesNotMatch((await page.locator(".verdict").textContent()) ?? "", /the limit/);
  });

  test("an interval keeps its unit while its number is wrong or missing", async () => {
    await visit();
    const interval = page.getByLabel("Quota, interval", { exact: true });
    await interval.fill("");
    await interval.blur();
    await page.locator(".fault").waitFor();
    await interval.fill("2");
    await interval.blur();
    await page.locator(".choice").getByText("GCRA, 10 per 2 s, burst 1").waitFor();
  });

  test("no more rules are put together than a link brings back", async () => {
    await visit();
    const add = page.getByRole("button", { name: "Add another quota" });
    for (let press = 0; press < 5; press++) await add.click();
    await settled(page);
    assert.ok(await add.isDisabled());
    await page.getByRole("button", { name: "Show it", exact: true }).click();
    await settled(page);
    assert.equal((await exported(page)).lanes[0]?.rules.length, 6);
    await page.locator("[data-row='0'] summary").click();
    assert.ok(await page.getByRole("button", { name: "Combine with another rule" }).isDisabled());
    await page.waitForURL(/l=g10/);
    const [other] = await open(browser, page.url());
    assert.equal(await other.locator(".notice").textContent(), "");
    await other.context().close();
  });

  test("a rule that can't be combined says why", async () => {
    await visit({}, "#v=1&p=edge&l=f9007199254740991.1000&z=1796083199990.1796083200010&t=1796083200010");
    await page.locator("[data-row='0'] summary").click();
    await page.getByRole("button", { name: "Combine with another rule" }).click();
    await page.locator(".notice").getByText("limit").waitFor();
  });

  test("a provider's words become a rule, its code and its lane", async () => {
    await visit();
    await page.getByLabel("What the documentation says").fill("10 requests per second with bursts of 5");
    await settled(page);
    const code = page.getByLabel("TypeScript, chosen", { exact: true });
    assert.match((await code.textContent()) ?? "", /client\.gcraLimit\("api:user:42", 500, 5\)/);
    assert.match((await page.locator(".choice").textContent()) ?? "", /at most 14 units in any 1 s/);
    await page.getByRole("button", { name: "Show it", exact: true }).click();
    await settled(page);
    assert.deepEqual(
      (await exported(page)).lanes.map(({ rules }) => rules),
      [[{ algorithm: "gcra", limit: 10, interval: 1000, burst: 5, rate: "" }]],
    );
  });

  test("code is copied as it is shown", async () => {
    await visit({ permissions: ["clipboard-read", "clipboard-write"] });
    await page.getByRole("button", { name: "Copy Commands, lane" }).click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(copied, "RATELIMIT.CREATE api 100 86400000 ALGO fixed_window\nRATELIMIT.CHECK api user:42");
    await page.getByRole("button", { name: "Copy link" }).click();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(link, /#v=1&p=edge&l=f100\.86400000~s100\.86400000~g100\.86400000\.10&z=/);
    await page.waitForURL(link);
  });

  test("a copy button says what became of it, and then its own words again, however often it is pressed", async () => {
    await visit({ permissions: ["clipboard-read", "clipboard-write"] });
    const panel = page.locator(".panel", { has: page.getByRole("heading", { name: "Share" }) });
    await panel.getByRole("button", { name: "Copy link" }).click();
    await panel.getByRole("button", { name: "Copied" }).click();
    await page.locator(".notice").getByText("Copied.", { exact: true }).waitFor();
    await panel.getByRole("button", { name: "Copy link" }).waitFor();
    await page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.reject(new DOMException("denied", "NotAllowedError"));
    });
    await panel.getByRole("button", { name: "Copy link" }).click();
    await panel.getByRole("button", { name: "Can’t copy" }).waitFor();
    await page.locator(".notice").getByText("doesn’t let this page copy").waitFor();
    await panel.getByRole("button", { name: "Copy link" }).waitFor();
    // As on plain http.
    await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
    await page.getByRole("button", { name: "Copy Commands, lane" }).click();
    await page.locator("figure").getByText("Can’t copy").waitFor();
  });

  test("the picture is saved as PNG and as SVG", async () => {
    await visit();
    const png = await saved(page, "PNG");
    assert.equal(png.subarray(1, 4).toString(), "PNG");
    const svg = (await saved(page, "SVG")).toString();
    assert.match(svg, /Fixed window admitted 200 of 200/);
    const parsed = await page.evaluate((text) => {
      const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
      return {
        error: parsed.querySelector("parsererror")?.textContent,
        shapes: parsed.querySelectorAll("path").length,
      };
    }, svg);
    assert.equal(parsed.error, undefined);
    assert.ok(parsed.shapes > 20);
    const drawn = await browser.newPage({ viewport: { width: 1200, height: 800 } });
    await drawn.setContent(svg);
    await picture(drawn, "exported-svg");
    await drawn.close();
  });

  test("of two attempts to connect the later one counts, though the former is answered last", async () => {
    let late = () => {};
    served.command = (_, token) => {
      if (token === "Bearer second") return { status: 200, body: { result: "PONG" } };
      return new Promise((answer) => {
        late = () => answer({ status: 401, body: { detail: "too late" } });
      });
    };
    await visit({}, "#v=1&p=edge&l=g2.60000.2&z=1796083199990.1796083200010&t=1796083200010");
    const panel = page.locator(".panel", { has: page.getByRole("heading", { name: "Against the real store" }) });
    await panel.getByLabel("Token").fill("first");
    await panel.getByRole("button", { name: "Connect" }).click();
    await panel.getByLabel("Token").fill("second");
    await panel.getByRole("button", { name: "Connect" }).click();
    await panel.getByText("Connected;").waitFor();
    late();
    await page.waitForTimeout(300);
    assert.match((await panel.getByRole("status").textContent()) ?? "", /^Connected;/);
    // The browser's own word about the 401.
    faults.splice(0);
  });

  test("a real store gets the same requests, and its answers and latency are shown", async () => {
    const asked: unknown[][] = [];
    let left = 2;
    served.command = (args, token) => {
      if (token !== "Bearer secret") return { status: 401, body: { detail: "a token is needed" } };
      asked.push([...args]);
      if (args[0] !== "GCRA.LIMIT") return { status: 200, body: { result: "PONG" } };
      return { status: 200, body: { result: left-- > 0 ? [0, 2, left, -1, 30_000] : [1, 2, 0, 29_500, 60_000] } };
    };
    await visit({}, "#v=1&p=edge&l=g2.60000.2&z=1796083199990.1796083200010&t=1796083200010");
    const panel = page.locator(".panel", { has: page.getByRole("heading", { name: "Against the real store" }) });
    await panel.getByRole("button", { name: "Connect" }).click();
    await panel.getByText("a token is needed").waitFor();
    faults.splice(0);
    await panel.getByLabel("Token").fill("secret");
    await panel.getByRole("button", { name: "Connect" }).click();
    await panel.getByText("Connected;").waitFor();
    for (let press = 0; press < 3; press++) {
      await panel.getByRole("button", { name: "Send a request" }).click();
      await page.waitForTimeout(60);
    }
    await panel.getByText("refused, retry in 29.5 s").waitFor();
    assert.match((await panel.textContent()) ?? "", /3 answers; half within [\d.]+ ms/);
    assert.deepEqual(
      asked.filter(([name]) => name === "GCRA.LIMIT").map((call) => call.slice(2)),
      Array(3).fill([60_000, 2]),
    );
    const rows = await counts(page);
    assert.deepEqual(
      rows.map(({ name, admitted, refused }) => [name, admitted, refused]),
      [
        ["GCRA", 2, 1],
        ["The real store", 2, 1],
      ],
    );
    await picture(page, "real-store", true);
  });
});

/** Presses Tab until the element has the focus. */
async function tabTo(page: Page, selector: string, back = false): Promise<boolean> {
  for (let press = 0; press < 80; press++) {
    await page.keyboard.press(back ? "Shift+Tab" : "Tab");
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return true;
  }
  return false;
}
