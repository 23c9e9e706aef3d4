import { lowerBound, upperBound, upperBoundFrom } from "../arrivals/arrivals.ts";
import {
  ADMITTED,
  fullAt,
  isOver,
  levelAfter,
  levelAt,
  mostBetween,
  refusedBefore,
  SPARED,
  type Track,
} from "../outcome/track.ts";
import { perInterval } from "../rule/bound.ts";
import { isSchedule, recovery } from "../rule/rule.ts";
import { number } from "../rule/words.ts";
import type { Surface } from "./surface.ts";
import type { TimeScale } from "./timescale.ts";

/** What is picked out in a row. */
export interface Focus {
  /** The moment up to which requests have come; what is later is faint. On screen the present is a layer of its own. */
  readonly playhead?: number;
  /** The request under the pointer or the keyboard's cursor. */
  readonly cursor?: number | undefined;
  /** The units at the top of the chart: rows that count in the same window share it, so that their heights compare. */
  readonly highest: number;
}

/** The units at the top of a row's chart, beside the other rows. */
export function highestOf({ window, rule }: Track, rows: readonly Track[]): number {
  const comparable = rows.filter((other) => other.rule !== undefined && other.window === window);
  const most = Math.max(1, ...comparable.map((other) => other.most));
  // A line that would flatten everything else stays off the scale.
  const fits = (units: number) => (units <= 12 * most ? units : 0);
  return Math.max(
    most,
    fits(rule === undefined ? 0 : perInterval(rule)),
    ...comparable.map(({ bound }) => fits(bound)),
  );
}

/** Heights of a row's parts, from its top: the chart takes what is left. */
const MARKS = 44;
const LEVEL = 18;
const GAP = 6;
/** Marks that are closer than this many pixels become one. */
const BIN = 6;
/** How many requests are looked through for a gap at which groups can start. */
const LOOK_BACK = 400;

/** Draws one row: units in the last window under the promised bound, the rule's own level, and a mark for each request. */
export function drawRow(surface: Surface, track: Track, scale: TimeScale, height: number, focus: Focus): void {
  const marksTop = height - MARKS;
  const levelTop = marksTop - LEVEL - GAP;
  drawEdges(surface, track, scale, height);
  if (track.rule !== undefined) {
    drawChart(surface, track, scale, levelTop - GAP, focus.highest);
    drawLevel(surface, track, scale, levelTop);
    if (focus.playhead !== undefined) drawTat(surface, track, scale, levelTop + LEVEL, focus.playhead);
  }
  drawMarks(surface, track, scale, marksTop);
  if (focus.playhead !== undefined) drawFuture(surface, scale, height, focus.playhead);
  if (focus.cursor !== undefined) drawCursor(surface, track, scale, height, focus.cursor);
}

/** The height a row needs. */
export function rowHeight(track: Track, narrow: boolean): number {
  if (track.rule === undefined) return MARKS + 12;
  return narrow ? 148 : 172;
}

/** The edges of a fixed window's windows. */
function drawEdges(surface: Surface, { rule }: Track, { view, x, perPixel }: TimeScale, height: number): void {
  if (rule?.algorithm !== "fixed-window" || rule.interval / perPixel < 9) return;
  const first = Math.ceil(view.from / rule.interval);
  surface.stroke(
    "text",
    (pen) => {
      for (let edge = first; edge * rule.interval < view.to; edge++) {
        const at = Math.round(x(edge * rule.interval)) + 0.5;
        pen.moveTo(at, 0);
        pen.lineTo(at, height);
      }
    },
    { dash: [2, 3], alpha: 0.5 },
  );
  if ((view.to - view.from) / rule.interval > 3) return;
  for (let edge = first; edge * rule.interval < view.to; edge++) {
    surface.text("faint", "new window", x(edge * rule.interval) + 5, height - 5, { size: 10 });
  }
}

function drawChart(surface: Surface, track: Track, scale: TimeScale, bottom: number, highest: number): void {
  const { rule, bound } = track;
  if (rule === undefined) return;
  const units = perInterval(rule);
  const boundFits = bound <= highest;
  const limitFits = units <= highest;
  const top = 20;
  const y = (units: number) => bottom - (units / highest) * (bottom - top);
  const columns = columnMaxima(track, scale);
  const limit = y(Math.min(units, highest));
  surface.fill("admitted", (pen) => areaUnder(pen, columns, (units) => Math.max(y(units), limit), bottom), 0.2);
  // What goes over the limit is the point of the page.
  if (isOver(track)) {
    surface.fill("over", (pen) => areaUnder(pen, columns, (units) => Math.min(y(units), limit), limit), 0.42);
  }
  surface.stroke("admitted", (pen) => topLine(pen, columns, y), { width: 1.5 });
  surface.stroke("faint", (pen) => horizontal(pen, bottom + 0.5, scale.width), { alpha: 0.5 });
  const apart = Math.abs(limit - y(bound)) > 14;
  if (limitFits && units !== bound) {
    surface.stroke("text", (pen) => horizontal(pen, limit, scale.width), { alpha: 0.45 });
    if (apart || !boundFits) label(surface, "faint", `limit ${number(units)}`, limit - 4);
  }
  if (boundFits) {
    surface.stroke("text", (pen) => horizontal(pen, y(bound), scale.width), { width: 1.5, dash: [6, 4] });
    label(surface, "text", `promised at most ${number(bound)}`, y(bound) - 5, true);
  } else {
    label(surface, "faint", `promised at most ${number(bound)}, off the scale`, top - 7);
  }
}

/** Words at the left edge, readable whatever is behind them. */
function label(surface: Surface, ink: "text" | "faint", words: string, y: number, bold = false): void {
  surface.fill("background", (pen) => pen.rect(1, y - 10, words.length * 5.8 + 8, 13), 0.78);
  surface.text(ink, words, 4, y, { bold });
}

/** The most units in the last window that any instant of each pixel column sees. */
function columnMaxima(track: Track, { width, time }: TimeScale): Float64Array {
  const columns = new Float64Array(Math.ceil(width));
  const { unitsBefore, window, arrivals } = track;
  const { times } = arrivals;
  let first = lowerBound(times, time(0));
  let here = upperBound(times, time(0));
  let left = upperBound(times, time(0) - window);
  for (let column = 0; column < columns.length; column++) {
    const at = time(column);
    here = upperBoundFrom(times, at, here);
    left = upperBoundFrom(times, at - window, left);
    const next = time(column + 1);
    // Up to, not including, the next column.
    let end = upperBoundFrom(times, next, first);
    while (end > first && times[end - 1] === next) end--;
    const count = (unitsBefore[here] as number) - (unitsBefore[left] as number);
    columns[column] = Math.max(count, mostBetween(track, first, end));
    first = end;
  }
  return columns;
}

type Pen = Parameters<Parameters<Surface["fill"]>[1]>[0];

/** One outline around all columns: far cheaper to fill than a rectangle for each. */
function areaUnder(pen: Pen, columns: ArrayLike<number>, y: (units: number) => number, base: number): void {
  pen.moveTo(0, base);
  for (let start = 0; start < columns.length; ) {
    let end = start + 1;
    while (columns[end] === columns[start]) end++;
    const top = Math.min(base, Math.round(y(columns[start] as number)));
    pen.lineTo(start, top);
    pen.lineTo(end, top);
    start = end;
  }
  pen.lineTo(columns.length, base);
  pen.closePath();
}

function topLine(pen: Pen, columns: Float64Array, y: (units: number) => number): void {
  columns.forEach((units, column) => {
    if (column === 0) pen.moveTo(0, y(units));
    else if (units !== columns[column - 1]) {
      pen.lineTo(column, y(columns[column - 1] as number));
      pen.lineTo(column, y(units));
    }
  });
  pen.lineTo(columns.length, y(columns.at(-1) ?? 0));
}

function horizontal(pen: Pen, y: number, width: number): void {
  pen.moveTo(0, y);
  pen.lineTo(width, y);
}

/** How full the rule is. */
function drawLevel(surface: Surface, track: Track, scale: TimeScale, top: number): void {
  const { rule } = track;
  if (rule === undefined) return;
  const full = fullAt(rule);
  const bottom = top + LEVEL;
  const height = (level: number) => Math.min(1, level / full) * LEVEL;
  surface.fill(
    "level",
    (pen) => {
      const { times } = track.arrivals;
      const levels = new Float64Array(Math.ceil(scale.width));
      let end = upperBound(times, scale.time(0));
      for (let column = 0; column < levels.length; column++) {
        const time = scale.time(column + 1);
        end = upperBoundFrom(times, time, end);
        levels[column] = height(levelAfter(track, end - 1, time));
      }
      areaUnder(pen, levels, (level) => bottom - level, bottom);
    },
    0.5,
  );
  surface.stroke("faint", (pen) => horizontal(pen, top + 0.5, scale.width), { dash: [1, 3] });
  surface.stroke("faint", (pen) => horizontal(pen, bottom + 0.5, scale.width), { alpha: 0.5 });
}

/** The moment at which a schedule will be idle again, as seen from `playhead`: its `tat`. */
export function tatAt(track: Track, playhead: number): number | undefined {
  const { rule } = track;
  if (rule === undefined || !isSchedule(rule)) return undefined;
  const level = levelAt(track, playhead);
  return level > 0 ? playhead + level / recovery(rule) : undefined;
}

/** From the bottom of a row's chart to the line on which its `tat` is shown; the padding below is the page's. */
export const TAT_LINE = MARKS + GAP + 6;

function drawTat(surface: Surface, track: Track, { x, width }: TimeScale, y: number, playhead: number): void {
  const tat = tatAt(track, playhead);
  if (tat === undefined) return;
  const from = Math.max(0, x(playhead));
  const to = Math.min(width, x(tat));
  if (to - from < 2) return;
  surface.stroke(
    "level",
    (pen) => {
      pen.moveTo(from, y - 1);
      pen.lineTo(to, y - 1);
    },
    { width: 3 },
  );
  surface.fill("level", (pen) => {
    pen.moveTo(to, y - 9);
    pen.lineTo(to + 5, y - 4);
    pen.lineTo(to, y + 1);
    pen.lineTo(to - 5, y - 4);
    pen.closePath();
  });
  if (width - to > 30) surface.text("text", "tat", to + 8, y - 1, { size: 10 });
}

/** Requests that share a few pixels. */
interface Bin {
  readonly x: number;
  readonly admitted: number;
  readonly refused: number;
  readonly spared: number;
}

/** Groups the requests in view that would overlap; the groups stay with the time, so that nothing flickers as it moves. */
function bins(track: Track, { view, perPixel, x }: TimeScale): Bin[] {
  const { times } = track.arrivals;
  const step = Math.max(BIN * perPixel, 1);
  const found: Bin[] = [];
  const last = upperBound(times, view.to);
  const start = gapBefore(times, lowerBound(times, view.from - step), step);
  for (let first = start ?? lowerBound(times, view.from - step); first < last; ) {
    const time = times[first] as number;
    // Without a gap nearby everything is dense, and groups are slots of the clock.
    const until = start === undefined ? (Math.floor(time / step) + 1) * step : time + step;
    const end = Math.max(first + 1, lowerBound(times, until));
    found.push({
      x: x(start === undefined ? until - step / 2 : (time + (times[end - 1] as number)) / 2),
      admitted: (track.admittedBefore[end] as number) - (track.admittedBefore[first] as number),
      refused: refusedBefore(track, end) - refusedBefore(track, first),
      spared: (track.sparedBefore[end] as number) - (track.sparedBefore[first] as number),
    });
    first = end;
  }
  return found;
}

/** The last request up to `index` that has none within `step` before it. */
function gapBefore(times: Float64Array, index: number, step: number): number | undefined {
  for (let at = index; at > index - LOOK_BACK; at--) {
    if (at <= 0) return 0;
    if (at < times.length && (times[at] as number) - (times[at - 1] as number) >= step) return at;
  }
  return undefined;
}

/** Admitted requests above the line, refused ones below it: dots and crosses, or bars where they would overlap. */
function drawMarks(surface: Surface, track: Track, scale: TimeScale, top: number): void {
  const all = bins(track, scale);
  const middle = top + MARKS / 2;
  let most = 1;
  for (const { admitted, refused, spared } of all) most = Math.max(most, admitted, refused + spared);
  const reach = MARKS / 2 - 4;
  const long = (count: number) => (count === 0 ? 0 : most <= 3 ? count * 6 : 4 + (reach - 4) * (count / most));
  const dots = most === 1;
  surface.stroke("line", (pen) => horizontal(pen, middle + 0.5, scale.width));
  surface.fill("admitted", (pen) => {
    for (const { x, admitted } of all) {
      if (admitted === 0) continue;
      if (dots) circle(pen, x, middle - 8, 3);
      else pen.rect(x - 2, middle - 1 - long(admitted), 4, long(admitted));
    }
  });
  surface.stroke(
    "refused",
    (pen) => {
      for (const { x, refused } of all) {
        if (refused === 0) continue;
        if (dots) cross(pen, x, middle + 9, 2.6);
        else hollow(pen, x - 1.5, middle + 2, 3, long(refused) - 1);
      }
    },
    { width: 1.5 },
  );
  surface.stroke(
    "faint",
    (pen) => {
      for (const { x, refused, spared } of all) {
        if (spared === 0) continue;
        if (dots) circle(pen, x, middle + 9, 2.6);
        else hollow(pen, x - 1.5, middle + 2 + long(refused), 3, long(spared) - 1);
      }
    },
    { width: 1.3 },
  );
  labelBars(surface, all, middle, long);
}

/** Says how many where a bar stands alone. */
function labelBars(surface: Surface, all: readonly Bin[], middle: number, long: (count: number) => number): void {
  all.forEach(({ x, admitted, refused }, index) => {
    const room = Math.min(x - (all[index - 1]?.x ?? -99), (all[index + 1]?.x ?? x + 99) - x);
    if (room < 34) return;
    if (admitted > 3)
      surface.text("admitted", number(admitted), x + 6, middle - long(admitted) / 2 + 3, { bold: true });
    if (refused > 3) surface.text("refused", number(refused), x + 6, middle + long(refused) / 2 + 6, { bold: true });
  });
}

function circle(pen: Pen, x: number, y: number, radius: number): void {
  pen.moveTo(x + radius, y);
  pen.arc(x, y, radius, 0, 2 * Math.PI);
}

function cross(pen: Pen, x: number, y: number, radius: number): void {
  pen.moveTo(x - radius, y - radius);
  pen.lineTo(x + radius, y + radius);
  pen.moveTo(x - radius, y + radius);
  pen.lineTo(x + radius, y - radius);
}

function hollow(pen: Pen, x: number, y: number, width: number, height: number): void {
  if (height > 0) pen.rect(x, y, width, height);
}

function drawFuture(surface: Surface, { x, width }: TimeScale, height: number, playhead: number): void {
  const at = x(playhead);
  if (at < width)
    surface.fill("background", (pen) => pen.rect(Math.max(0, at), 0, width - Math.max(0, at), height), 0.72);
  if (at >= 0 && at <= width) {
    surface.stroke(
      "text",
      (pen) => {
        pen.moveTo(at, 0);
        pen.lineTo(at, height);
      },
      { width: 1.5 },
    );
  }
}

function drawCursor(surface: Surface, track: Track, { x }: TimeScale, height: number, cursor: number): void {
  const time = track.arrivals.times[cursor];
  if (time === undefined) return;
  const up = track.fate[cursor] === ADMITTED;
  const y = height - MARKS / 2 + (up ? -8 : 9);
  surface.stroke("text", (pen) => circle(pen, x(time), y, 8), { width: 2 });
  if (track.fate[cursor] === SPARED) return;
  const retry = track.retryAfterMs[cursor] ?? 0;
  if (up || retry < 0) return;
  // From the refusal to the moment at which the same request passes.
  surface.stroke(
    "refused",
    (pen) => {
      pen.moveTo(x(time) + 9, y);
      pen.lineTo(Math.max(x(time) + 9, x(time + retry)), y);
    },
    { width: 1.5, dash: [2, 3] },
  );
  surface.fill("admitted", (pen) => circle(pen, x(time + retry), y, 3));
}
