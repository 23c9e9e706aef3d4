import type { Arrivals } from "../arrivals/arrivals.ts";
import type { Retry } from "../arrivals/retry.ts";
import { type Algorithm, fault, isBucket, type Rule, rule } from "../rule/rule.ts";
import { LAST_MOMENT } from "../rule/words.ts";
import { presetOf } from "./presets.ts";
import { type Lane, MOST_LANES, MOST_RULES, type Scenario, type Source } from "./scenario.ts";

/*
 * A scenario as the fragment of a link: `v=1&p=edge&l=f100.86400000~g100.86400000.10&z=FROM.TO&t=PLAYHEAD`. Lanes are
 * joined by `~`, the rules of a policy by `*`; `!h100`, `!p`, `!q` say how refused clients retry. Times of one's own are
 * differences as variable-length integers in base64.
 */

const VERSION = "1";
const LETTERS: Readonly<Record<Algorithm, string>> = {
  gcra: "g",
  "fixed-window": "f",
  "sliding-window": "s",
  "token-bucket": "t",
  "leaky-bucket": "l",
};

/** The most requests of one's own that go into a link; more would not fit what browsers and chats let through. */
export const MOST_SHARED = 20_000;

/** A link could not be read; the text says why. */
export class LinkError extends Error {}

/** Whether the scenario fits in a link. */
export function fitsInLink({ source }: Scenario): boolean {
  return source.kind === "preset" || source.arrivals.times.length <= MOST_SHARED;
}

/** The scenario as the fragment of a link; `undefined` when it holds too many requests of one's own for one. */
export function toFragment(scenario: Scenario): string | undefined {
  const { lanes, source, view, playhead } = scenario;
  if (!fitsInLink(scenario)) return undefined;
  const fields: [string, string | number][] = [["v", VERSION]];
  if (source.kind === "preset") {
    fields.push(["p", source.preset]);
    if (source.rate > 0) fields.push(["r", source.rate]);
    if (source.seed !== 1) fields.push(["s", source.seed]);
  } else {
    fields.push(["a", pack(differences(source.arrivals.times))]);
    if (source.arrivals.costs !== undefined) fields.push(["c", pack(source.arrivals.costs)]);
  }
  fields.push(["l", lanes.map(laneText).join("~")]);
  fields.push(["z", `${Math.round(view.from)}.${Math.round(view.to)}`], ["t", Math.round(playhead)]);
  return fields.map(([name, value]) => `${name}=${value}`).join("&");
}

/** Reads what {@link toFragment} wrote. Throws a {@link LinkError} when it is something else. */
export function fromFragment(fragment: string): Scenario {
  const fields = new Map(fragment.split("&").map((field) => splitOnce(field, "=")));
  const version = fields.get("v");
  if (version !== VERSION) throw new LinkError(`this page reads links of version ${VERSION}, not ${version ?? "none"}`);
  const lanes = (fields.get("l") ?? "").split("~").map(readLane);
  if (lanes.length > MOST_LANES) throw new LinkError(`a link has at most ${MOST_LANES} lanes, not ${lanes.length}`);
  const [from, to] = (fields.get("z") ?? "").split(".").map((text) => readInteger(text, "the view"));
  if (from === undefined || to === undefined || from >= to) throw new LinkError("the view must end after it starts");
  const playhead = readInteger(fields.get("t"), "the time");
  if (Math.max(to, playhead) > LAST_MOMENT) throw new LinkError("the time is after all dates");
  return { lanes, source: readSource(fields), view: { from, to }, playhead };
}

function readSource(fields: ReadonlyMap<string, string>): Source {
  const packed = fields.get("a");
  if (packed !== undefined) return { kind: "own", arrivals: readArrivals(packed, fields.get("c")) };
  const preset = fields.get("p") ?? "";
  const known = presetOf(preset);
  if (known === undefined) throw new LinkError(`there is no preset ${JSON.stringify(preset)}`);
  const rate = fields.has("r") ? Number(fields.get("r")) : (known.rate?.usual ?? 0);
  const { least = 0, most = 0 } = known.rate ?? {};
  if (!(rate >= least && rate <= most)) throw new LinkError(`the rate must be ${least} to ${most}, not ${rate}`);
  return { kind: "preset", preset, rate, seed: readInteger(fields.get("s") ?? "1", "the seed") };
}

function readArrivals(packed: string, packedCosts: string | undefined): Arrivals {
  const times = unpack(packed);
  if (times.length > MOST_SHARED) throw new LinkError(`a link has at most ${MOST_SHARED} requests`);
  times.forEach((difference, index) => {
    times[index] = (times[index - 1] ?? 0) + difference;
  });
  if (!times.every((time) => Number.isSafeInteger(time) && time <= LAST_MOMENT)) {
    throw new LinkError("the times are not whole milliseconds of a date");
  }
  if (packedCosts === undefined) return { times };
  const costs = unpack(packedCosts);
  if (costs.length !== times.length || !costs.every((cost) => cost >= 1 && Number.isSafeInteger(cost))) {
    throw new LinkError("each request needs a cost from 1 to 9007199254740991");
  }
  return { times, costs };
}

function laneText({ rules, retry }: Lane): string {
  const suffix = { never: "", hammer: `!h${retry.kind === "hammer" ? retry.every : ""}`, polite: "!p", queue: "!q" };
  return rules.map(ruleText).join("*") + suffix[retry.kind];
}

function ruleText({ algorithm, limit, interval, burst, rate }: Rule): string {
  const more = algorithm === "gcra" ? `.${burst}` : isBucket(algorithm) && rate !== "" ? `.${rate}` : "";
  return `${LETTERS[algorithm]}${limit}.${interval}${more}`;
}

function readLane(text: string): Lane {
  const [rules, suffix = ""] = text.split("!");
  const read = (rules ?? "").split("*").map(readRule);
  if (read.length > MOST_RULES)
    throw new LinkError(`a policy has at most ${MOST_RULES} rules here, not ${read.length}`);
  return { rules: read, retry: readRetry(suffix) };
}

function readRetry(text: string): Retry {
  if (text === "") return { kind: "never" };
  if (text === "p") return { kind: "polite" };
  if (text === "q") return { kind: "queue" };
  const every = text.startsWith("h") ? readInteger(text.slice(1), "the retry") : 0;
  if (every < 1) throw new LinkError(`no way to retry is called ${JSON.stringify(text)}`);
  return { kind: "hammer", every };
}

function readRule(text: string): Rule {
  const algorithm = (Object.keys(LETTERS) as Algorithm[]).find((name) => LETTERS[name] === text[0]);
  const [limit, interval, ...more] = text.slice(1).split(".");
  if (algorithm === undefined) throw new LinkError(`no algorithm is called ${JSON.stringify(text[0] ?? "")}`);
  const extra = more.join(".");
  const read = rule(algorithm, Number(limit), Number(interval), {
    ...(algorithm === "gcra" && extra !== "" ? { burst: Number(extra) } : {}),
    ...(isBucket(algorithm) ? { rate: extra } : {}),
  });
  const wrong = fault(read);
  if (wrong !== undefined) throw new LinkError(wrong);
  return read;
}

function readInteger(text: string | undefined, what: string): number {
  const value = Number(text);
  if (text === undefined || text === "" || !Number.isSafeInteger(value) || value < 0) {
    throw new LinkError(`${what} must be a whole number`);
  }
  return value;
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function differences(times: Float64Array): Float64Array {
  return times.map((time, index) => time - (times[index - 1] ?? 0));
}

/** Integers as base64 for links, each with how often it comes in a row. */
function pack(values: Float64Array): string {
  const bytes: number[] = [];
  for (let index = 0; index < values.length; ) {
    const value = values[index] as number;
    let end = index + 1;
    while (values[end] === value) end++;
    pushInteger(bytes, value);
    pushInteger(bytes, end - index);
    index = end;
  }
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function unpack(packed: string): Float64Array {
  let text: string;
  try {
    text = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    throw new LinkError("the times in this link are damaged");
  }
  const values: number[] = [];
  let at = 0;
  const next = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = text.charCodeAt(at++);
      if (Number.isNaN(byte)) throw new LinkError("the times in this link are cut short");
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < text.length) {
    const value = next();
    const count = next();
    if (values.length + count > MOST_SHARED) throw new LinkError(`a link has at most ${MOST_SHARED} requests`);
    for (let times = 0; times < count; times++) values.push(value);
  }
  return Float64Array.from(values);
}

function pushInteger(bytes: number[], value: number): void {
  let left = value;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) | 128);
  bytes.push(left);
}
