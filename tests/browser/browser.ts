import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const SCREENSHOTS = fileURLToPath(new URL("screenshots/", import.meta.url));
mkdirSync(SCREENSHOTS, { recursive: true });

/** Debian's Chromium, quiet. */
export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/** A page of its own, and everything that went wrong in it. */
export async function open(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<[Page, string[]]> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 1000 }, ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(message.text());
  });
  await page.goto(url);
  await settled(page);
  return [page, faults];
}

/** Waits until everything is decided and drawn. */
export async function settled(page: Page): Promise<void> {
  await page.waitForSelector('.stage[aria-busy="false"] .row canvas');
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 150)))),
  );
}

/** Keeps a picture of the page, for people to look at. */
export async function picture(page: Page, name: string, fullPage = false): Promise<void> {
  await page.screenshot({ path: `${SCREENSHOTS}${name}.png`, fullPage });
}

/** What each row says it admitted, refused, and left to another rule. */
export function counts(page: Page): Promise<{ name: string; admitted: number; refused: number; spared: number }[]> {
  return page.locator("[data-row]").evaluateAll((rows) =>
    rows.map((row) => {
      const count = (fate: string) =>
        Number(row.querySelector(`[data-count="${fate}"]`)?.textContent?.replaceAll(",", ""));
      return {
        name: row.querySelector("h2")?.textContent ?? "",
        admitted: count("admitted"),
        refused: count("refused"),
        spared: count("spared"),
      };
    }),
  );
}

/** One row of the exported JSON. */
export interface ExportedTrack {
  readonly rule?: { algorithm: string; limit: number; interval: number; burst: number; rate: string };
  readonly summary: string;
  readonly window: number;
  readonly most: number;
  readonly bound: number | null;
  readonly times: number[];
  readonly costs: number[];
  readonly fate: number[];
  readonly retryAfterMs: number[];
  readonly inWindow: number[];
}

/** What the JSON button saves. */
export interface Exported {
  readonly view: { readonly from: number; readonly to: number };
  readonly playhead: number;
  readonly lanes: readonly {
    readonly rules: readonly NonNullable<ExportedTrack["rule"]>[];
    readonly tracks: readonly ExportedTrack[];
  }[];
}

/** Presses a button that saves a file, and reads the file. */
export async function saved(page: Page, button: string): Promise<Buffer> {
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: button, exact: true }).click();
  const chunks: Buffer[] = [];
  for await (const chunk of await (await download).createReadStream()) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Everything on the page as its JSON button saves it. */
export async function exported(page: Page): Promise<Exported> {
  return JSON.parse((await saved(page, "JSON")).toString()) as Exported;
}
