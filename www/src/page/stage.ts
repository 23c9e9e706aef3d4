import { AXIS_HEIGHT, drawAxis } from "../draw/axis.ts";
import { drawRow, highestOf, rowHeight, tatAt } from "../draw/row.ts";
import { canvasSurface, type Inks } from "../draw/surface.ts";
import { type TimeScale, timeScale } from "../draw/timescale.ts";
import { countsAt, nearest, type Track } from "../outcome/track.ts";
import { moment, number } from "../rule/words.ts";
import type { Playground } from "./playground.ts";
import { SCRUB_STEPS } from "./transport.ts";

/** Draws what moves on the page's canvases: the axis and the rows, with their counts up to the present. */
export class Stage {
  readonly #playground: Playground;
  readonly #root: HTMLElement;
  #inks: Inks | undefined;
  #width = 0;
  readonly #shown = new WeakMap<HTMLCanvasElement, readonly unknown[]>();

  constructor(playground: Playground, root: HTMLElement) {
    this.#playground = playground;
    this.#root = root;
  }

  /** The colors are read again: the theme changed. */
  retheme(): void {
    this.#inks = undefined;
  }

  get inks(): Inks {
    this.#inks ??= readInks(this.#root);
    return this.#inks;
  }

  /** Where moments are on the canvases. */
  get scale(): TimeScale {
    return timeScale(this.#playground.scenario.view, this.#width);
  }

  /** Measures the canvases; once after each change of the layout. */
  measure(): void {
    this.#width = this.#root.querySelector<HTMLElement>(".axis")?.clientWidth ?? 0;
  }

  /** Draws the canvases whose content changed, and moves the present over them. */
  draw(): void {
    const { tracks, arrivals, scenario, cursor } = this.#playground;
    if (this.#width === 0) this.measure();
    const { scale, inks } = this;
    const axis = this.#root.querySelector<HTMLCanvasElement>("canvas[data-axis]");
    if (axis !== null && this.#isStale(axis, [arrivals])) {
      drawAxis(canvasSurface(prepare(axis, scale.width, AXIS_HEIGHT), inks), arrivals, scale);
    }
    this.#showPresent();
    const narrow = scale.width < 560;
    this.#root.querySelectorAll<HTMLElement>("[data-row]").forEach((row, index) => {
      const track = tracks[index];
      const canvas = row.querySelector("canvas");
      if (track === undefined || canvas === null) return;
      const at = cursor?.row === index ? cursor.index : undefined;
      const highest = highestOf(track, tracks);
      if (this.#isStale(canvas, [track, at, highest])) {
        const height = rowHeight(track, narrow);
        drawRow(canvasSurface(prepare(canvas, scale.width, height), inks), track, scale, height, {
          cursor: at,
          highest,
        });
      }
      showTat(row, track, scale, scenario.playhead);
      showCounts(row, track, scenario.playhead);
    });
  }

  /** Whether a canvas shows something else than these, in this view and these colors. */
  #isStale(canvas: HTMLCanvasElement, shown: readonly unknown[]): boolean {
    const { view } = this.#playground.scenario;
    const now = [...shown, view.from, view.to, this.#width, this.#inks, window.devicePixelRatio];
    const before = this.#shown.get(canvas);
    if (before?.length === now.length && now.every((each, index) => each === before[index])) return false;
    this.#shown.set(canvas, now);
    return true;
  }

  /** The present in words and on the slider: it moves too often for the rest of the page to follow. */
  #showPresent(): void {
    const { scenario, extent } = this.#playground;
    const x = Math.min(Math.max(this.scale.x(scenario.playhead), -20), this.#width + 20);
    const transform = `translateX(${x.toFixed(1)}px)`;
    for (const present of this.#root.querySelectorAll<HTMLElement>(".present")) {
      if (present.style.transform !== transform) present.style.transform = transform;
    }
    const now = Math.round(scenario.playhead);
    const words = moment(now);
    const clock = this.#root.querySelector(".clock");
    if (clock === null || clock.textContent === words) return;
    clock.textContent = words;
    const slider = this.#root.querySelector<HTMLInputElement>(".scrub");
    const share = (scenario.playhead - extent.from) / Math.max(1, extent.to - extent.from);
    if (slider !== null) slider.value = String(Math.round(share * SCRUB_STEPS));
    slider?.setAttribute("aria-valuetext", words);
    const axis = this.#root.querySelector(".axis");
    axis?.setAttribute("aria-valuenow", String(now));
    axis?.setAttribute("aria-valuetext", words);
  }

  /** The request under a point of a row, when one is near. */
  requestAt(track: Track, x: number): number | undefined {
    const index = nearest(track, this.scale.time(x));
    const time = index === undefined ? undefined : track.arrivals.times[index];
    return time !== undefined && Math.abs(this.scale.x(time) - x) <= 14 ? index : undefined;
  }
}

/** A clean canvas of that size in CSS pixels. */
function prepare(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = Math.min(2, window.devicePixelRatio);
  const [columns, rows] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== columns || canvas.height !== rows) {
    canvas.width = columns;
    canvas.height = rows;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** Moves the mark of a schedule's `tat`. */
function showTat(row: HTMLElement, track: Track, scale: TimeScale, playhead: number): void {
  const mark = row.querySelector<HTMLElement>(".tat");
  if (mark === null) return;
  const tat = tatAt(track, playhead);
  const from = Math.max(0, scale.x(playhead));
  const to = tat === undefined ? 0 : Math.min(scale.width, scale.x(tat));
  mark.hidden = to - from < 2;
  if (mark.hidden) return;
  mark.style.transform = `translateX(${from.toFixed(1)}px)`;
  mark.style.width = `${(to - from).toFixed(1)}px`;
  // The word only where it fits.
  mark.style.color = to - from < 32 ? "transparent" : "";
}

function showCounts(row: HTMLElement, track: Track, playhead: number): void {
  const { admitted, refused, spared } = countsAt(track, playhead);
  for (const [fate, count] of Object.entries({ admitted, refused, spared })) {
    const shown = row.querySelector(`[data-count="${fate}"]`);
    const text = number(count);
    if (shown !== null && shown.textContent !== text) shown.textContent = text;
  }
}

function readInks(root: HTMLElement): Inks {
  const style = getComputedStyle(root);
  const ink = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    background: ink("paper"),
    text: ink("text"),
    faint: ink("faint"),
    line: ink("line"),
    admitted: ink("admitted"),
    refused: ink("refused"),
    over: ink("over"),
    level: ink("level"),
  };
}
