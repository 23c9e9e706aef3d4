import { type Arrivals, lowerBound } from "../arrivals/arrivals.ts";
import { number, tick } from "../rule/words.ts";
import type { Surface } from "./surface.ts";
import { type TimeScale, ticks } from "./timescale.ts";

/** Height of the arrivals and of the time under them. */
export const AXIS_HEIGHT = 96;
const STRIP = 70;
const BIN = 5;

/** Draws the requests as they arrive, and the time. */
export function drawAxis(surface: Surface, arrivals: Arrivals, scale: TimeScale, playhead?: number): void {
  drawArrivals(surface, arrivals, scale);
  surface.stroke("line", (pen) => {
    pen.moveTo(0, STRIP + 0.5);
    pen.lineTo(scale.width, STRIP + 0.5);
  });
  const { x, view, width } = scale;
  const shown = ticks(view, Math.max(2, Math.floor(width / 110)));
  const apart = (shown[1] ?? 0) - (shown[0] ?? 0);
  for (const time of shown) {
    const at = x(time);
    surface.stroke("line", (pen) => {
      pen.moveTo(at, STRIP);
      pen.lineTo(at, STRIP + 5);
    });
    const words = tick(time, apart);
    const half = words.length * 3.4;
    if (at > half && at < width - half) surface.text("faint", words, at, STRIP + 18, { align: "center" });
  }
  const now = playhead === undefined ? -1 : x(playhead);
  if (now >= 0 && now <= width) {
    surface.fill("text", (pen) => {
      pen.moveTo(now - 6, 0);
      pen.lineTo(now + 6, 0);
      pen.lineTo(now, 8);
      pen.closePath();
    });
    surface.stroke(
      "text",
      (pen) => {
        pen.moveTo(now, 0);
        pen.lineTo(now, AXIS_HEIGHT);
      },
      { width: 1.5 },
    );
  }
}

function drawArrivals(surface: Surface, { times }: Arrivals, { view, perPixel, x }: TimeScale): void {
  const step = Math.max(BIN * perPixel, 1);
  const bars: { readonly at: number; readonly count: number }[] = [];
  const last = lowerBound(times, view.to + step);
  let most = 1;
  for (let first = lowerBound(times, view.from - step); first < last; ) {
    const time = times[first] as number;
    const slot = Math.floor(time / step);
    const end = Math.max(first + 1, lowerBound(times, (slot + 1) * step));
    const at = x(times[end - 1] === time ? time : (slot + 0.5) * step);
    bars.push({ at, count: end - first });
    most = Math.max(most, end - first);
    first = end;
  }
  surface.fill(
    "text",
    (pen) => {
      for (const { at, count } of bars) {
        const long = most === 1 ? 10 : 4 + ((STRIP - 14) * count) / most;
        pen.rect(at - 1.5, STRIP - long, 3, long);
      }
    },
    0.72,
  );
  bars.forEach(({ at, count }, index) => {
    const room = Math.min(at - (bars[index - 1]?.at ?? -99), (bars[index + 1]?.at ?? at + 99) - at);
    if (count > 3 && room > 34) surface.text("faint", number(count), at + 5, STRIP - 12);
  });
}
