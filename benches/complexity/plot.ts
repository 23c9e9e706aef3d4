// The lines as a picture: a panel for each thing that could grow, readable on light and dark pages.

import { type Counts, counts, short } from "./points.ts";

const WIDTH = 360;
const HEIGHT = 240;
const LEFT = 56;
const RIGHT = 24;
const TOP = 62;
const BOTTOM = 44;
const COLUMNS = 2;

const STYLE = `
  :root { --ink: #1f2328; --faint: #d0d7de; --quiet: #59636e; --a: #0969da; --b: #bc4c00; --c: #1a7f37; }
  @media (prefers-color-scheme: dark) {
    :root { --ink: #e6edf3; --faint: #3d444d; --quiet: #9198a1; --a: #4493f8; --b: #f0883e; --c: #3fb950; }
  }
  text { font: 12px system-ui, sans-serif; fill: var(--quiet); }
  .title { font-weight: 600; fill: var(--ink); font-size: 13px; }
  .grid { stroke: var(--faint); stroke-width: 1; }
  .line { fill: none; stroke-width: 2; }
  .a { stroke: var(--a); } .b { stroke: var(--b); } .c { stroke: var(--c); }
  circle.a { fill: var(--a); } circle.b { fill: var(--b); } circle.c { fill: var(--c); }
  text.a { fill: var(--a); stroke: none; } text.b { fill: var(--b); stroke: none; } text.c { fill: var(--c); stroke: none; }`;

/** A round number at or above `value`: 1, 2, 4, 5 or 8 times a power of ten. */
function roundedUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 5, 8, 10].find((step) => step * power >= value) ?? 10) * power;
}

function panel(against: string, lines: readonly Counts[], linear: boolean): string {
  const all = lines.flatMap(({ points }) => points);
  const xs = [...new Set(all.map(([x]) => x))].toSorted((a, b) => a - b);
  const most = roundedUp(Math.max(...all.map(([, y]) => y)));
  const scale = (x: number) => (linear ? x : Math.log(x));
  const [first, last] = [linear ? 0 : scale(xs[0] ?? 1), scale(xs.at(-1) ?? 1)];
  const at = (x: number) => +(LEFT + ((scale(x) - first) / (last - first)) * (WIDTH - LEFT - RIGHT)).toFixed(1);
  const up = (y: number) => +(HEIGHT - BOTTOM - (y / most) * (HEIGHT - TOP - BOTTOM)).toFixed(1);
  const title = against.endsWith("in ns") ? "nanoseconds, against keys" : `instructions, against ${against}`;
  const parts = [`<text class="title" x="${LEFT}" y="18">${title}</text>`];
  for (const part of [0, 0.5, 1]) {
    const y = up(part * most);
    parts.push(`<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}"/>`);
    parts.push(`<text x="${LEFT - 8}" y="${y + 4}" text-anchor="end">${(part * most).toLocaleString("en-US")}</text>`);
  }
  let right = Number.NEGATIVE_INFINITY;
  for (const x of xs) {
    // Labels that would touch are left out.
    if (at(x) - right < 34) continue;
    right = at(x);
    parts.push(`<text x="${at(x)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${short(against, x)}</text>`);
  }
  let named = LEFT;
  for (const [index, { name, points }] of lines.entries()) {
    const color = "abc"[index] ?? "a";
    const path = points.map(([x, y]) => `${at(x)},${up(y)}`).join(" ");
    parts.push(`<polyline class="line ${color}" points="${path}"/>`);
    for (const [x, y] of points) parts.push(`<circle class="${color}" cx="${at(x)}" cy="${up(y)}" r="3"/>`);
    parts.push(`<text class="${color}" x="${named}" y="38">${name}</text>`);
    named += name.length * 6.2 + 16;
  }
  return parts.join("\n    ");
}

/** The picture as SVG. */
export function plot(): string {
  const panels = Map.groupBy(counts(), ({ against }) => against);
  const rows = Math.ceil(panels.size / COLUMNS);
  const [width, height] = [COLUMNS * WIDTH, rows * HEIGHT];
  const drawn = [...panels].map(([against, lines], index) => {
    const [x, y] = [(index % COLUMNS) * WIDTH, Math.floor(index / COLUMNS) * HEIGHT];
    return `  <g transform="translate(${x} ${y})">\n    ${panel(against, lines, against === "rules")}\n  </g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Instructions of a decision against what could grow">
  <style>${STYLE}
  </style>
${drawn.join("\n")}
</svg>
`;
}
