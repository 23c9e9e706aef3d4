import { type Arrivals, arrivalsAt } from "./arrivals.ts";

/** What was found in pasted text. */
export interface Pasted {
  readonly arrivals: Arrivals;
  /** Lines that held no time, and the first of them. */
  readonly skipped: number;
  readonly firstSkipped?: string;
}

/** The most lines that are read. */
export const MOST_LINES = 2_000_000;

const ISO = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?/;
const COMMON_LOG = /(\d\d)\/(\w{3})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d{4})/;
const EPOCH = /(?<![\d.])\d{10}(?:\.\d+)?(?![\d.])|(?<![\d.])\d{13}(?:\.\d+)?(?![\d.])|(?<![\d.])\d{16}(?![\d.])/;
const MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec";

/**
 * Reads one time a line from timestamps, a log or a column of a CSV: ISO 8601 (UTC when it names no zone), the common log
 * format's `[01/Dec/2026:00:00:00 +0000]`, or an epoch in seconds, milliseconds or microseconds. Lines without one are
 * counted.
 */
export function readTimes(text: string): Pasted {
  const times: number[] = [];
  let skipped = 0;
  let firstSkipped: string | undefined;
  for (const line of text.split(/\r?\n/, MOST_LINES)) {
    if (line.trim() === "") continue;
    const time = timeIn(line);
    if (time === undefined) {
      skipped++;
      firstSkipped ??= line.trim().slice(0, 80);
    } else {
      times.push(time);
    }
  }
  return { arrivals: arrivalsAt(times), skipped, ...(firstSkipped === undefined ? {} : { firstSkipped }) };
}

/** The first time in a line, in whole milliseconds since 1970. */
function timeIn(line: string): number | undefined {
  const time = isoIn(line) ?? commonLogIn(line) ?? epochIn(line);
  return time !== undefined && Number.isSafeInteger(time) && time >= 0 ? time : undefined;
}

function isoIn(line: string): number | undefined {
  const found = ISO.exec(line)?.[0];
  if (found === undefined) return undefined;
  const zoned = /(?:Z|[+-]\d\d:?\d\d)$/.test(found);
  const text = `${found.replace(" ", "T").replace(",", ".")}${zoned ? "" : "Z"}`.replace(/([+-]\d\d)(\d\d)$/, "$1:$2");
  return Math.floor(Date.parse(text));
}

function commonLogIn(line: string): number | undefined {
  const [, day, month = "", year, time, zone = ""] = COMMON_LOG.exec(line) ?? [];
  const index = MONTHS.indexOf(month);
  if (day === undefined || index % 3 !== 0) return undefined;
  const numbered = String(index / 3 + 1).padStart(2, "0");
  return Date.parse(`${year}-${numbered}-${day}T${time}${zone.slice(0, 3)}:${zone.slice(3)}`);
}

function epochIn(line: string): number | undefined {
  const found = EPOCH.exec(line)?.[0];
  if (found === undefined) return undefined;
  const [whole = "", fraction = ""] = found.split(".");
  if (whole.length === 16) return Math.floor(Number(whole) / 1000);
  // Seconds to the millisecond without a float's rounding.
  return whole.length === 13 ? Number(whole) : Number(whole) * 1000 + Number(fraction.padEnd(3, "0").slice(0, 3));
}
