import { fault, type Rule, rule } from "./rule.ts";

/** How a provider's documentation says that it counts. */
export type Counting = "evenly" | "calendar" | "rolling" | "token-bucket" | "leaky-bucket";

/** One quota, as the short form asks for it. */
export interface Quota {
  readonly limit: number;
  /** Milliseconds. */
  readonly interval: number;
  readonly counting: Counting;
  /** Units that may come at once after a quiet time. */
  readonly burst: number;
  /** Units of the request that costs most. */
  readonly cost: number;
}

/** The rule that describes a quota, what to know about it, and what the engine has against it, if anything. */
export interface Choice {
  readonly rule: Rule;
  readonly advice: readonly string[];
  readonly fault: string | undefined;
}

/** Picks the rule for a quota. */
export function choose(quota: Quota): Choice {
  const { limit, interval, counting, burst, cost } = quota;
  const advice: string[] = [];
  const picked = pick();
  if (counting !== "evenly" && counting !== "calendar" && counting !== "rolling") {
    advice.push("A bucket admits its whole size at once after a quiet time, so up to that much more in one interval.");
  }
  if (counting === "calendar") {
    advice.push(
      "Windows are aligned to 1970-01-01 00:00 UTC: a 24 h window ends at UTC midnight, not at local midnight.",
    );
    if (86_400_000 % interval !== 0 && interval % 86_400_000 !== 0) {
      advice.push("This interval does not divide a day, so its windows drift against the calendar.");
    }
    advice.push(
      "Two neighboring windows can be spent back to back around their edge. That is what the provider permits.",
    );
    if (cost > limit) advice.push("A request that costs more than the limit can never pass.");
  }
  if (counting === "rolling") {
    advice.push("Each admission counts until exactly one interval later; there is no common reset.");
    if (cost > limit) advice.push("A request that costs more than the limit can never pass.");
  }
  if (counting === "evenly") {
    if (cost > burst)
      advice.push("The burst was raised to the cost: a request must fit in the burst, or it could never pass.");
    else if (burst === 1) advice.push("Requests are spaced evenly; nothing comes back to back.");
    else advice.push("Only allow a burst when the provider tolerates it: it adds to what one interval can see.");
  }
  return { rule: picked, advice, fault: fault(picked) };

  function pick(): Rule {
    switch (counting) {
      case "calendar":
        return rule("fixed-window", limit, interval);
      case "rolling":
        return rule("sliding-window", limit, interval);
      case "evenly":
        return rule("gcra", limit, interval, { burst: Math.max(burst, cost) });
      default: {
        const size = Math.max(burst, cost);
        // As many tokens as the limit over its interval, in a bucket of the burst's size.
        if (size === limit) return rule(counting, limit, interval);
        const rate = decimalRate(limit, interval);
        return rate === undefined
          ? rule("gcra", limit, interval, { burst: size })
          : rule(counting, size, Math.max(1, Math.round((size * interval) / limit)), { rate });
      }
    }
  }
}

/** `limit` per `interval` in units a second, when six decimals are enough to say it exactly. */
function decimalRate(limit: number, interval: number): string | undefined {
  // What is no count at all is for the engine to refuse.
  if (!Number.isSafeInteger(limit) || !Number.isSafeInteger(interval) || limit < 1 || interval < 1) return undefined;
  const micro = BigInt(limit) * 1_000_000_000n;
  if (micro % BigInt(interval) !== 0n) return undefined;
  const text = (micro / BigInt(interval)).toString().padStart(7, "0");
  return `${text.slice(0, -6)}.${text.slice(-6)}`.replace(/\.?0+$/, "");
}

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  millisecond: 1,
  s: 1000,
  sec: 1000,
  second: 1000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hr: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  w: 604_800_000,
  week: 604_800_000,
};
const QUOTA =
  /(\d[\d,_]*)(k)?\s*(?:[a-z]+\s*){0,3}?(?:\/|\b(?:per|an?|every|each|in(?: any)?)\b)\s*(?:(\d+)\s*)?(milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w)\b/gi;
/** Numbers as sentences spell them, by what they are. */
const SPELLED = ["", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
const HEADER = /(?:q=)?(\d+)\s*;\s*w=(\d+)/gi;
const WORDS_OF: readonly (readonly [Counting, RegExp])[] = [
  ["token-bucket", /token.?bucket|refill|replenish/i],
  ["leaky-bucket", /leaky|drain/i],
  ["rolling", /rolling|sliding|any (?:\d+|second|minute|hour|day)|preceding|last \d+/i],
  ["calendar", /midnight|calendar|fixed|resets? (?:at|every)|start of (?:the|each)|top of the hour|aligned|utc/i],
];

/** Reads quotas out of what a provider's documentation says, such as "10 requests per second, 5,000 per hour". */
export function readQuotas(said: string): Quota[] {
  const text = said
    .replace(/\b[a-z]+\b/gi, (word) => {
      const value = SPELLED.indexOf(word.toLowerCase());
      return value > 0 ? String(value) : word;
    })
    // Requests, queries, tokens, transactions: 3 rps, 500 RPM, 40k TPM.
    .replace(/(\d[\d,_]*k?)\s*[rqt]p([smhd])\b/gi, "$1 per $2");
  const counting = WORDS_OF.find(([, words]) => words.test(text))?.[0] ?? "evenly";
  const burst = Number(/bursts?\D{0,16}(\d[\d,]*)/i.exec(text)?.[1]?.replaceAll(",", "") ?? "1");
  const quotas: Quota[] = [];
  const add = (limit: number, interval: number) => {
    if (Number.isSafeInteger(limit) && Number.isSafeInteger(interval) && limit > 0 && interval > 0) {
      const size = counting.endsWith("bucket") && burst === 1 ? limit : Math.max(1, burst);
      quotas.push({ limit, interval, counting, burst: size, cost: 1 });
    }
  };
  for (const [, digits = "", kilo, count, unit = ""] of text.matchAll(QUOTA)) {
    const limit = Number(digits.replaceAll(/[,_]/g, "")) * (kilo === undefined ? 1 : 1000);
    add(limit, Number(count ?? "1") * (UNITS[unit.toLowerCase().replace(/(?<=..)s$/, "")] ?? 0));
  }
  if (quotas.length === 0)
    for (const [, limit, seconds] of text.matchAll(HEADER)) add(Number(limit), Number(seconds) * 1000);
  return quotas.slice(0, 6);
}
