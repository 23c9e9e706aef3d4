import { styleText } from "node:util";

/** The styles that the command line uses. */
export type Style = "green" | "red" | "dim" | "bold" | "yellow" | "cyan";

/** Whether a person is looking at `stream`: it is a terminal, and nobody asked for plain text. */
export function isStyled(stream: NodeJS.WriteStream): boolean {
  const { NO_COLOR: plain } = process.env;
  return stream.isTTY === true && !plain;
}

/** `text` in `style` where `stream` shows color, as it is elsewhere. */
export function styled(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return isStyled(stream) ? styleText(style, text, { validateStream: false }) : text;
}

/** A bar of `width` cells, `share` of them full. */
export function bar(share: number, width: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * width);
  return "█".repeat(full) + "░".repeat(width - full);
}

/** Milliseconds as people say them: `250 ms`, `14.4 min`, `1 h`. */
export function duration(ms: number): string {
  const units: readonly (readonly [number, string])[] = [
    [86_400_000, "d"],
    [3_600_000, "h"],
    [60_000, "min"],
    [1000, "s"],
  ];
  const [size, name] = units.find(([size]) => ms >= size) ?? [1, "ms"];
  return `${Number((ms / size).toPrecision(6))} ${name}`;
}
