import { type Path, pathRound } from "d3-path";

/** The colors of the drawing, by what they stand for. */
export interface Inks {
  readonly background: string;
  readonly text: string;
  readonly faint: string;
  readonly line: string;
  readonly admitted: string;
  readonly refused: string;
  readonly over: string;
  readonly level: string;
}

export type Ink = keyof Inks;

/** Traces a shape: a canvas and d3's path for SVG understand the same calls. */
export type Tracer = Pick<Path, "moveTo" | "lineTo" | "rect" | "arc" | "closePath">;

/** How a line is drawn. */
export interface Stroke {
  readonly width?: number;
  readonly dash?: readonly number[];
  readonly alpha?: number;
}

/** How text is set. */
export interface Lettering {
  readonly size?: number;
  readonly bold?: boolean;
  readonly align?: "left" | "center" | "right";
}

/** What rows are drawn on: a canvas on screen, or SVG for export, by the same code. */
export interface Surface {
  fill(ink: Ink, trace: (pen: Tracer) => void, alpha?: number): void;
  stroke(ink: Ink, trace: (pen: Tracer) => void, stroke?: Stroke): void;
  text(ink: Ink, words: string, x: number, y: number, lettering?: Lettering): void;
}

const FONT = "Figtree, ui-sans-serif, system-ui, sans-serif";

/** A canvas as a surface. Its coordinates are CSS pixels from (`left`, `top`). */
export function canvasSurface(context: CanvasRenderingContext2D, inks: Inks): Surface {
  return {
    fill(ink, trace, alpha = 1) {
      context.globalAlpha = alpha;
      context.fillStyle = inks[ink];
      context.beginPath();
      trace(context);
      context.fill();
    },
    stroke(ink, trace, { width = 1, dash = [], alpha = 1 } = {}) {
      context.globalAlpha = alpha;
      context.strokeStyle = inks[ink];
      context.lineWidth = width;
      context.setLineDash([...dash]);
      context.beginPath();
      trace(context);
      context.stroke();
    },
    text(ink, words, x, y, { size = 11, bold = false, align = "left" } = {}) {
      context.globalAlpha = 1;
      context.fillStyle = inks[ink];
      context.font = `${bold ? 650 : 450} ${size}px ${FONT}`;
      context.textAlign = align;
      context.fillText(words, x, y);
    },
  };
}

/** SVG as a surface: `elements` gathers what is drawn. */
export function svgSurface(inks: Inks, elements: string[]): Surface {
  const traced = (trace: (pen: Tracer) => void) => {
    const pen = pathRound(2);
    trace(pen);
    return pen.toString();
  };
  return {
    fill(ink, trace, alpha = 1) {
      const shape = traced(trace);
      if (shape !== "") elements.push(`<path d="${shape}" fill="${inks[ink]}"${opacity(alpha)}/>`);
    },
    stroke(ink, trace, { width = 1, dash = [], alpha = 1 } = {}) {
      const shape = traced(trace);
      const dashes = dash.length > 0 ? ` stroke-dasharray="${dash.join(" ")}"` : "";
      if (shape === "") return;
      elements.push(
        `<path d="${shape}" fill="none" stroke="${inks[ink]}" stroke-width="${width}"${dashes}${opacity(alpha)}/>`,
      );
    },
    text(ink, words, x, y, { size = 11, bold = false, align = "left" } = {}) {
      const anchor = { left: "start", center: "middle", right: "end" }[align];
      const weight = bold ? ' font-weight="650"' : "";
      elements.push(
        `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" font-size="${size}"${weight} text-anchor="${anchor}" fill="${inks[ink]}">${escaped(words)}</text>`,
      );
    },
  };
}

/** The elements as a document. */
export function svgDocument(width: number, height: number, inks: Inks, title: string, elements: string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${FONT}" role="img"><title>${escaped(title)}</title><rect width="${width}" height="${height}" fill="${inks.background}"/>${elements.join("")}</svg>\n`;
}

function opacity(alpha: number): string {
  return alpha === 1 ? "" : ` opacity="${alpha}"`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
