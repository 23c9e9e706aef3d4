import { AXIS_HEIGHT, drawAxis } from "../draw/axis.ts";
import { drawRow, highestOf, rowHeight } from "../draw/row.ts";
import { canvasSurface, type Inks } from "../draw/surface.ts";
import { type TimeScale, timeScale } from "../draw/timescale.ts";
import { countsAt, nearest, type Track } from "../outcome/track.ts";
import { number } from "../rule/words.ts";
import type { Playground } from "./playground.ts";

/** Draws what moves on the page's canvases: the axis and the rows, with their counts up to the present. */
export class Stage {
  readonly #playground: Playground;
  readonly #root: HTMLElement;
  #inks: Inks | undefined;
  #width = 0;

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

  draw(): void {
    const { tracks, arrivals, scenario, cursor } = this.#playground;
    if (this.#width === 0) this.measure();
    const { scale } = this;
    const axis = this.#root.querySelector<HTMLCanvasElement>("canvas[data-axis]");
    if (axis !== null) {
      drawAxis(canvasSurface(prepare(axis, scale.width, AXIS_HEIGHT), this.inks), arrivals, scale, scenario.playhead);
    }
    const narrow = scale.width < 560;
    this.#root.querySelectorAll<HTMLElement>("[data-row]").forEach((row, index) => {
      const track = tracks[index];
      const canvas = row.querySelector("canvas");
      if (track === undefined || canvas === null) return;
      const height = rowHeight(track, narrow);
      const at = cursor?.row === index ? cursor.index : undefined;
      const focus = { playhead: scenario.playhead, cursor: at, highest: highestOf(track, tracks) };
      drawRow(canvasSurface(prepare(canvas, scale.width, height), this.inks), track, scale, height, focus);
      showCounts(row, track, scenario.playhead);
    });
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
