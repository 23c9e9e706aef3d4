import { readFileSync } from "node:fs";

/** A reply in the vectors' notation: see `tests/vectors`. */
export type VectorReply = number | string | null | { ok: string } | { error: string } | VectorReply[];

/** One case: commands on a fresh engine, each at its time. */
export interface CommandCase {
  readonly name: string;
  readonly steps: readonly { readonly at: number; readonly command: readonly string[]; readonly reply: VectorReply }[];
}

/** The cases of one file of `tests/vectors`. */
export function commandCases(file: "reference-commands" | "shared-commands"): CommandCase[] {
  return JSON.parse(readFileSync(new URL(`../vectors/${file}.json`, import.meta.url), "utf8"));
}

/** A policy's rule, as users write it. */
export interface VectorRule {
  readonly limit: number;
  readonly interval: number | string;
  readonly [field: string]: unknown;
}

/** One policy and the jobs that ask it, or the error that the policy itself must get. */
export interface PolicyCase {
  readonly name: string;
  readonly rate: VectorRule | readonly VectorRule[];
  readonly error?: string;
  readonly steps: readonly {
    readonly at: number;
    readonly cost: number;
    readonly scope: Readonly<Record<string, string>>;
    /** How far ahead it would reserve a start. */
    readonly reserve?: number;
    readonly reply:
      | { allowed: boolean; retryAfterMs: number; startsInMs?: number; blockedBy?: number[] }
      | { error: string };
  }[];
}

/** The files of `tests/vectors` with policy cases. */
export const POLICY_FILES = ["reference-policies", "shared-policies", "reservations"] as const;

/** What a step asks. */
export function admitCommand(fingerprint: string, { cost, scope, reserve }: PolicyCase["steps"][number]): string[] {
  const scopes = Object.entries(scope).flatMap(([dimension, identity]) => ["SCOPE", dimension, identity]);
  const ahead = reserve === undefined ? [] : ["RESERVE", String(reserve)];
  return ["VALVE.ADMIT", "ns", fingerprint, String(cost), ...scopes, ...ahead];
}

/** The policy cases of one file of `tests/vectors`. */
export function policyCases(file: (typeof POLICY_FILES)[number]): PolicyCase[] {
  return JSON.parse(readFileSync(new URL(`../vectors/${file}.json`, import.meta.url), "utf8"));
}

/** A command as RESP bytes. Written for the tests, beside the package's own encoder. */
export function resp(command: readonly string[]): Buffer {
  const parts = command.map((argument) => `$${Buffer.byteLength(argument)}\r\n${argument}\r\n`);
  return Buffer.from(`*${command.length}\r\n${parts.join("")}`);
}

/** A whole RESP2 reply in the vectors' notation. Written for the tests, beside the package's own decoder. */
export function parseReply(bytes: Uint8Array): VectorReply {
  const text = Buffer.from(bytes).toString("latin1");
  const [reply, end] = parseAt(text, 0);
  if (end !== text.length) throw new Error(`more than one reply: ${JSON.stringify(text)}`);
  return reply;
}

function parseAt(text: string, at: number): [VectorReply, number] {
  const lineEnd = text.indexOf("\r\n", at);
  const line = Buffer.from(text.slice(at + 1, lineEnd), "latin1").toString();
  let next = lineEnd + 2;
  switch (text[at]) {
    case "+":
      return [{ ok: line }, next];
    case "-":
      return [{ error: line }, next];
    case ":":
      return [Number(line), next];
    case "$": {
      if (line === "-1") return [null, next];
      const end = next + Number(line);
      return [Buffer.from(text.slice(next, end), "latin1").toString(), end + 2];
    }
    case "*": {
      const items: VectorReply[] = [];
      for (let left = Number(line); left > 0; left--) {
        const [item, end] = parseAt(text, next);
        items.push(item);
        next = end;
      }
      return [items, next];
    }
    default:
      throw new Error(`not RESP: ${JSON.stringify(text.slice(at))}`);
  }
}
