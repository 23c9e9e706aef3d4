// What every subject is: something that checks keys, made for one setting.

/** At most `burst` units a key at once, and `burst` every `period` milliseconds. */
export interface Setting {
  readonly period: number;
  readonly burst: number;
}

/** Checks one key, and answers with whatever this subject answers. */
export type Check = (key: string) => unknown;

export interface Subject {
  readonly make: (setting: Setting) => Check | Promise<Check>;
  /** Whether its answers are promises. */
  readonly awaited?: true;
  /** Bytes that it holds in memory of its own, which Node counts nowhere. */
  readonly memory?: () => number;
}

/**
 * Never refuses while a benchmark runs, and keeps every key alive for minutes: one that recovers at once would be reclaimed by
 * those who do so, and each check would be of a new key.
 */
export function allows(keys: number): Setting {
  return keys === 1 ? { period: 864_000_000, burst: 10_000_000 } : { period: 2_000_000_000, burst: 10_000 };
}

/** Refuses every check of a key but its first. */
export const REFUSES: Setting = { period: 86_400_000, burst: 1 };
