import type { Client } from "../hotkv.ts";
import { Engine } from "../index.node.ts";
import { duration, styled } from "./terminal.ts";

/** A rule as the canonical policy spells it: durations in ms, defaults filled in. */
export interface CanonicalRule {
  readonly algorithm: "gcra" | "fixed-window" | "sliding-window";
  readonly limit: number;
  readonly interval: number;
  readonly burst?: number;
  readonly name?: string;
  readonly scope?: string;
}

/** A policy that an engine accepted. */
export interface CheckedPolicy {
  readonly fingerprint: string;
  readonly rate: readonly CanonicalRule[];
  readonly concurrency?: { readonly limit: number; readonly lease: number };
}

/** Has an engine read the policy; what is wrong with it is thrown. */
export function checkedPolicy(json: string): CheckedPolicy {
  using engine = new Engine();
  const fingerprint = String(engine.command("VALVE.DEFINE", "policy", json));
  const shown = engine.command("VALVE.SHOW", "policy");
  const canonical = Array.isArray(shown) ? shown[shown.indexOf("policy") + 1] : null;
  return { fingerprint, ...(JSON.parse(String(canonical)) as Omit<CheckedPolicy, "fingerprint">) };
}

/** Explains each rule: how it spaces, the most it admits in any window, how long it takes to recover. */
export function check(json: string): void {
  const { rate, concurrency, fingerprint } = checkedPolicy(json);
  console.log(`${rate.length === 1 ? "One rule" : `${rate.length} rules, spent in one step or not at all`}:`);
  for (const rule of rate) console.log(explain(rule).join("\n"));
  if (concurrency) {
    console.log(
      `\nAt most ${concurrency.limit} jobs at once, over all workers; the lease of a worker that died runs out after ${duration(concurrency.lease)}.`,
    );
  }
  console.log(`\nfingerprint ${styled("dim", fingerprint)}`);
}

/** One rule in words. */
export function explain({ algorithm, limit, interval, burst = 1, name, scope }: CanonicalRule): string[] {
  const title = `${name ?? algorithm}: ${units(limit)} per ${duration(interval)}${scope ? `, for each ${scope}` : ""}`;
  const lines: Readonly<Record<CanonicalRule["algorithm"], () => string[]>> = {
    gcra: () => [
      `one unit every ${duration(interval / limit)}, ${burst === 1 ? "none ahead of its time" : `${burst} at once after a quiet time`}`,
      `at most ${limit + burst - 1} in any ${duration(interval)}`,
      `back to a full burst ${duration((burst * interval) / limit)} after all of it was spent`,
    ],
    "fixed-window": () => [
      `counts windows of ${duration(interval)} aligned on 1970-01-01T00:00:00Z`,
      `at most ${limit} in each, and up to ${2 * limit} in a stretch of ${duration(interval)} across an edge`,
      `back to full at the next edge, at most ${duration(interval)} away`,
    ],
    "sliding-window": () => [
      "counts the stretch that ends now, wherever it lies",
      `at most ${limit} in any ${duration(interval)}, without exception`,
      `each unit comes back ${duration(interval)} after it was spent`,
    ],
  };
  return [`\n${styled("bold", title)}`, ...lines[algorithm]().map((line) => `  ${line}`)];
}

/** Prints the fingerprint alone, for scripts. */
export function fingerprint(json: string): void {
  console.log(checkedPolicy(json).fingerprint);
}

/** Resets a namespace's fingerprint. */
export async function reset(client: Client, namespace: string): Promise<void> {
  const forgotten = await client.command("VALVE.FORGET", namespace);
  console.log(`${namespace}: fingerprint ${String(forgotten)} is forgotten; what was spent stays spent.`);
}

function units(count: number): string {
  return count === 1 ? "1 unit" : `${count} units`;
}
