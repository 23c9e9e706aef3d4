import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { PRESETS } from "../../www/src/scenario/presets.ts";
import { counts, type Exported, exported, launch, open, picture, settled } from "./browser.ts";
import { Model, mostInAny } from "./model.ts";
import { type Served, serve } from "./serve.ts";

/** Rows with more requests than this are compared by their counts; their JSON would be hundreds of megabytes. */
const MOST_EXPORTED = 200_000;

describe("presets", () => {
  let served: Served;
  let browser: Browser;
  let page: Page;
  let faults: string[];

  before(async () => {
    served = await serve();
    browser = await launch();
    [page, faults] = await open(browser, served.url, { acceptDownloads: true });
  });
  after(async () => {
    await browser.close();
    await served.close();
  });

  test("the front door shows a fixed window letting twice its limit through in a millisecond", async () => {
    const rows = await counts(page);
    assert.deepEqual(rows, [
      { name: "Fixed window", admitted: 200, refused: 0, spared: 0 },
      { name: "Sliding window", admitted: 100, refused: 100, spared: 0 },
      { name: "GCRA", admitted: 10, refused: 190, spared: 0 },
    ]);
    assert.match(
      (await page.locator("h1").textContent()) ?? "",
      /fixed window of\s+100 per 24.h let\s+200 through in 1.ms/,
    );
    const [fixed] = (await exported(page)).lanes;
    const midnight = Date.UTC(2026, 11, 1);
    assert.deepEqual([...new Set(fixed?.tracks[0]?.times)], [midnight - 1, midnight]);
  });

  for (const preset of PRESETS) {
    test(`${preset.id}: every decision, and every number on the page, is the model's`, async () => {
      await page.getByRole("button", { name: preset.title, exact: true }).click();
      await settled(page);
      await picture(page, `preset-${preset.id}`);
      const first = preset.arrivals(preset.rate?.usual ?? 0, 1);
      if (first.times.length > MOST_EXPORTED) {
        const rows = await counts(page);
        preset.lanes.forEach(({ rules }, index) => {
          const model = new Model(rules);
          let admitted = 0;
          for (const time of first.times) admitted += model.decide(time, 1).allowed ? 1 : 0;
          assert.equal(rows[index]?.admitted, admitted, rules[0]?.algorithm);
          assert.equal(rows[index]?.refused, first.times.length - admitted);
        });
        return;
      }
      const file = await exported(page);
      checkDecisions(file);
      await checkTexts(page, file);
      for (const { rules, tracks } of file.lanes) {
        const retries = preset.lanes.some(({ retry }) => retry.kind !== "never");
        if (!retries) assert.deepEqual(tracks[0]?.times, [...first.times], rules[0]?.algorithm);
      }
    });
  }

  test("clients that hammer send what the model's clients send", async () => {
    await page.getByRole("button", { name: "Retry storm or polite retry" }).click();
    await settled(page);
    const [storm, , queue] = (await exported(page)).lanes;
    assert.ok(storm !== undefined && queue !== undefined);
    const model = new Model(storm.rules);
    const start = storm.tracks[0]?.times[0] as number;
    const sent: number[] = [];
    let waiting = 40;
    for (let now = start; waiting > 0 && now <= start + 10_000; now += 100) {
      for (const _ of Array(waiting).keys()) {
        sent.push(now);
        if (model.decide(now, 1).allowed) waiting--;
      }
    }
    assert.deepEqual(storm.tracks[0]?.times, sent);
    // In line: five pass at once, and each of the others is refused at most once before its turn.
    const fates = queue.tracks[0]?.fate ?? [];
    assert.equal(fates.filter((fate) => fate === 1).length, 40);
    assert.ok(fates.length <= 2 * 40);
  });

  test("nothing went wrong in the page", () => {
    assert.deepEqual(faults, []);
  });
});

/** Every row's decisions, waits and counts against the model. */
function checkDecisions({ lanes }: Exported): void {
  for (const { rules, tracks } of lanes) {
    const model = new Model(rules);
    const [top] = tracks;
    assert.ok(top !== undefined);
    const decided = top.times.map((time, index) => model.decide(time, top.costs[index] ?? 1));
    const allowed = decided.map(({ allowed }) => (allowed ? 1 : 0));
    assert.deepEqual(top.fate, allowed);
    assert.deepEqual(
      top.retryAfterMs,
      decided.map(({ retry }) => retry),
    );
    const rows = tracks.length === 1 ? tracks : tracks.slice(1);
    rows.forEach((track, part) => {
      if (tracks.length > 1) {
        const fates = decided.map(({ allowed, blocked }) => (allowed ? 1 : blocked[part] ? 0 : 2));
        assert.deepEqual(track.fate, fates);
      }
      const units = allowed.map((was, index) => was * (track.costs[index] ?? 1));
      const most = mostInAny(track.rule?.interval ?? 0, track.times, units);
      assert.equal(track.most, most);
      assert.ok(track.bound !== null && most <= track.bound, `${most} admitted, ${track.bound} promised`);
    });
  }
}

/** The numbers in the rows' texts against the exported decisions. */
async function checkTexts(page: Page, { lanes }: Exported): Promise<void> {
  const rows = await counts(page);
  const tracks = lanes.flatMap((lane) => lane.tracks);
  assert.equal(rows.length, tracks.length);
  const summaries = await page.locator(".summary").allTextContents();
  const comma = (value: number) => new Intl.NumberFormat("en-US").format(value);
  tracks.forEach((track, index) => {
    const of = (fate: number) => track.fate.filter((each) => each === fate).length;
    const { admitted, refused, spared } = rows[index] ?? {};
    assert.deepEqual([admitted, refused, spared], [of(1), of(0), of(2)]);
    const summary = summaries[index] ?? "";
    assert.ok(summary.includes(`admitted ${comma(of(1))} of ${comma(track.times.length)}`), summary);
    if (track.rule === undefined) return;
    assert.ok(summary.includes(`at most ${comma(track.most)} `), summary);
    assert.ok(summary.endsWith(`promises at most ${comma(track.bound ?? 0)}.`), summary);
  });
}
