import { scaleUtc } from "d3-scale";
import type { View } from "../scenario/scenario.ts";

/** Where a moment is on screen, and the other way round. */
export interface TimeScale {
  readonly view: View;
  readonly width: number;
  /** Milliseconds a pixel. */
  readonly perPixel: number;
  readonly x: (time: number) => number;
  readonly time: (x: number) => number;
}

/** A scale that shows `view` on `width` pixels. */
export function timeScale(view: View, width: number): TimeScale {
  const perPixel = (view.to - view.from) / Math.max(1, width);
  return {
    view,
    width,
    perPixel,
    x: (time) => (time - view.from) / perPixel,
    time: (x) => view.from + x * perPixel,
  };
}

/** Round moments in view, about `count` of them, none closer than a millisecond. */
export function ticks({ from, to }: View, count: number): number[] {
  return scaleUtc([from, to], [0, 1])
    .ticks(Math.max(1, Math.min(count, to - from)))
    .map(Number);
}

/** The shortest stretch of time that is shown. */
const LEAST_SPAN = 8;
const MOST_SPAN = 100 * 365 * 86_400_000;

/** The view made `factor` times as long around `center`. */
export function zoomed({ from, to }: View, factor: number, center: number): View {
  const span = Math.min(Math.max((to - from) * factor, LEAST_SPAN), MOST_SPAN);
  const scaled = span / (to - from);
  return within({ from: center - (center - from) * scaled, to: center + (to - center) * scaled });
}

/** The view moved as little as possible so that it shows `time`. */
export function showing(view: View, time: number): View {
  const span = view.to - view.from;
  if (time < view.from) return within({ from: time - span * 0.1, to: time + span * 0.9 });
  if (time > view.to) return within({ from: time - span * 0.9, to: time + span * 0.1 });
  return view;
}

function within({ from, to }: View): View {
  return from < 0 ? { from: 0, to: to - from } : { from, to };
}
