import { HotKVError } from "../errors.ts";
import type { Reply } from "../reply.ts";

/**
 * A reply as the HotKV documents print it: `1) (integer) 0`, `"text"`, `OK`, `(nil)`, `(error) ERR …`.
 *
 * @param simple Whether text stands for a status, such as `OK`, and is printed bare.
 */
export function formatReply(reply: Reply, simple = false): string {
  return lines(reply, simple).join("\n");
}

function lines(reply: Reply, simple = false): string[] {
  if (reply === null) return ["(nil)"];
  if (reply instanceof Error) return [`(error) ${reply.message}`];
  if (typeof reply === "number" || typeof reply === "bigint") return [`(integer) ${reply}`];
  if (typeof reply === "boolean") return [reply ? "(true)" : "(false)"];
  if (typeof reply === "string") return [simple ? reply : quote(reply)];
  const items = isMap(reply) ? [...reply].flat() : reply;
  if (items.length === 0) return ["(empty array)"];
  const width = String(items.length).length;
  return items.flatMap((item, at) => {
    const [first = "", ...rest] = lines(item);
    const margin = " ".repeat(width + 2);
    return [`${String(at + 1).padStart(width)}) ${first}`, ...rest.map((line) => margin + line)];
  });
}

function isMap(reply: Reply): reply is ReadonlyMap<Reply, Reply> {
  return reply instanceof Map;
}

/** Text in double quotes, with everything that a terminal would act on spelled out. */
function quote(text: string): string {
  const named: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\" };
  const escaped = text.replace(/[\p{Cc}"\\]/gu, (character) => {
    return named[character] ?? `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
  return `"${escaped}"`;
}

/** A reply as JSON for scripts: a map is an object, an error is `{ "error": … }`, a large integer is text. */
export function jsonReply(reply: Reply): string {
  const plain = (value: Reply): unknown => {
    if (typeof value === "bigint") return String(value);
    if (value instanceof Error) return { error: value.message };
    if (isMap(value)) return Object.fromEntries([...value].map(([key, item]) => [String(key), plain(item)]));
    return Array.isArray(value) ? value.map((item: Reply) => plain(item)) : value;
  };
  return JSON.stringify(plain(reply));
}

/** What a reply says of the request: for exit statuses. */
export type Outcome = "allowed" | "denied" | "error";

/** Whether the decision in `reply` admits; any other command's success counts as allowed. */
export function outcomeOf(command: string, reply: Reply): Outcome {
  if (reply instanceof HotKVError) return "error";
  const verdict = Array.isArray(reply) ? (reply as readonly Reply[])[0] : undefined;
  switch (command.toUpperCase()) {
    case "GCRA.LIMIT":
    case "CL.THROTTLE":
      return verdict === 1 ? "denied" : "allowed";
    case "RATELIMIT.CHECK":
    case "RATELIMIT.PEEK":
    case "VALVE.ADMIT":
      return verdict === 0 ? "denied" : "allowed";
    default:
      return "allowed";
  }
}

/** Splits a line into words as a shell would, without its expansions: quotes join, a backslash takes the next as it is. */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quoted: string | undefined;
  for (let at = 0; at < line.length; at++) {
    const character = line[at] ?? "";
    if (character === "\\" && quoted !== "'" && at + 1 < line.length) {
      word = (word ?? "") + (line[++at] ?? "");
    } else if (quoted !== undefined) {
      if (character === quoted) quoted = undefined;
      else word = (word ?? "") + character;
    } else if (character === '"' || character === "'") {
      quoted = character;
      word ??= "";
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? "") + character;
    }
  }
  if (quoted !== undefined) throw new HotKVError("ERR", `the line ends inside a ${quoted} quote`);
  if (word !== undefined) words.push(word);
  return words;
}
