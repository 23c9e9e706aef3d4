// Checks of keys that all are there already, visited uniformly.

import { nanoseconds } from "../clock.ts";
import { freshKeys, walk } from "../keys.ts";
import { allows, REFUSES, type Subject } from "../subject.ts";
import type { Turn } from "../turns.ts";

export interface Settings {
  readonly subject: string;
  readonly keys: number;
  readonly checks: number;
  readonly refuses?: boolean;
}

export async function prepare({
  subject: name,
  keys,
  checks,
  refuses = false,
}: Settings): Promise<() => Promise<Turn>> {
  const { subject } = (await import(`../subjects/${name}.ts`)) as { subject: Subject };
  const check = await subject.make(refuses ? REFUSES : allows(keys));
  const awaited = subject.awaited ?? false;
  const all = freshKeys(Array.from({ length: keys }, (_, user) => user));
  await nanoseconds(check, all, awaited);
  const step = walk(keys);
  // Keys that are the same text objects over and over, as those of a few known users might be.
  const known = all.slice(0, Math.min(keys, 10_000));
  return async () => {
    const users = Array.from({ length: checks }, step);
    const again = users.map((user) => known[user % known.length] ?? "");
    return {
      fresh: await nanoseconds(check, freshKeys(users), awaited),
      ...(keys <= known.length && { again: await nanoseconds(check, again, awaited) }),
    };
  };
}
