import type { Arrivals } from "../arrivals/arrivals.ts";
import { summary, type Track } from "../outcome/track.ts";
import type { View } from "../scenario/scenario.ts";
import { AXIS_HEIGHT, drawAxis } from "./axis.ts";
import { drawRow, highestOf, rowHeight } from "./row.ts";
import { canvasSurface, type Inks, type Surface, svgDocument, svgSurface } from "./surface.ts";
import { timeScale } from "./timescale.ts";

/** What goes into an exported picture. */
export interface Picture {
  readonly tracks: readonly Track[];
  readonly arrivals: Arrivals;
  readonly view: View;
  readonly playhead: number;
  readonly inks: Inks;
}

const WIDTH = 1200;
const MARGIN = 24;
const HEADING = 26;

/** The rows as an SVG document. */
export function toSvg(picture: Picture): string {
  const elements: string[] = [];
  compose(picture, (x, y, draw) => {
    const inside: string[] = [];
    draw(svgSurface(picture.inks, inside));
    const clip = `<svg x="${x}" y="${y}" width="${WIDTH - 2 * MARGIN}" height="400" overflow="hidden">`;
    elements.push(`${clip}${inside.join("")}</svg>`);
  });
  return svgDocument(WIDTH, pictureHeight(picture), picture.inks, picture.tracks.map(summary).join(" "), elements);
}

/** The rows as a PNG, two pixels for one. */
export async function toPng(picture: Picture): Promise<Blob> {
  const canvas = document.createElement("canvas");
  canvas.width = WIDTH * 2;
  canvas.height = pictureHeight(picture) * 2;
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("this browser has no canvas to draw on");
  context.scale(2, 2);
  context.fillStyle = picture.inks.background;
  context.fillRect(0, 0, canvas.width, canvas.height);
  compose(picture, (x, y, draw) => {
    context.save();
    context.translate(x, y);
    context.beginPath();
    context.rect(0, 0, WIDTH - 2 * MARGIN, 400);
    context.clip();
    draw(canvasSurface(context, picture.inks));
    context.restore();
  });
  return new Promise((done, failed) => {
    canvas.toBlob((blob) => (blob === null ? failed(new Error("the picture could not be encoded")) : done(blob)));
  });
}

type Place = (x: number, y: number, draw: (surface: Surface) => void) => void;

function compose({ tracks, arrivals, view, playhead }: Picture, place: Place): void {
  const scale = timeScale(view, WIDTH - 2 * MARGIN);
  place(MARGIN, MARGIN, (surface) => drawAxis(surface, arrivals, scale, playhead));
  let y = MARGIN + AXIS_HEIGHT;
  for (const track of tracks) {
    place(MARGIN, y, (surface) => {
      surface.text("text", `${track.name}, ${track.terms}`, 0, 18, { size: 14, bold: true });
      surface.text("faint", summary(track), scale.width, 18, { size: 12, align: "right" });
    });
    const height = rowHeight(track, false);
    place(MARGIN, y + HEADING, (surface) =>
      drawRow(surface, track, scale, height, { playhead, highest: highestOf(track, tracks) }),
    );
    y += HEADING + height + MARGIN / 2;
  }
  place(MARGIN, y, (surface) =>
    surface.text("faint", "Drawn by the Tidegate playground; every decision by its engine.", 0, 14),
  );
}

function pictureHeight({ tracks }: Picture): number {
  const rows = tracks.reduce((sum, track) => sum + HEADING + rowHeight(track, false) + MARGIN / 2, 0);
  return MARGIN + AXIS_HEIGHT + rows + 2 * MARGIN;
}
