// Subjects side by side: each in a process of its own, so that none pays for another's heap, and taking turns in each round, so
// that what else the machine does meets them all.

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const child = fileURLToPath(new URL("child.ts", import.meta.url));

/** What one turn measured, by column. */
export type Turn = Readonly<Record<string, number>>;

/** The first thing a child says. */
export interface Ready {
  /** SHA-256 of the WebAssembly module that it compiled, if it did. */
  readonly module?: string;
}

/** What runs in a child: a file of `scenarios/`, and what it is told. */
export interface Job {
  readonly scenario: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

export interface Side {
  readonly values: Record<string, Record<string, number[]>>;
  module?: string;
}

async function said(process: ChildProcess): Promise<unknown> {
  const ended = new AbortController();
  const failed = once(process, "exit", { signal: ended.signal }).then(([status]) => {
    throw new Error(`${process.spawnargs.slice(3).join(" ")} ended with ${status}`);
  });
  try {
    const [message] = (await Promise.race([once(process, "message"), failed])) as [unknown];
    return message;
  } finally {
    ended.abort();
    failed.catch(() => undefined);
  }
}

async function started({ scenario, settings }: Job): Promise<[ChildProcess, Ready]> {
  const process = fork(child, [scenario, JSON.stringify(settings)], {
    execArgv: ["--expose-gc", "--max-old-space-size=4096"],
  });
  return [process, (await said(process)) as Ready];
}

/** Measures the jobs side by side, after `warm` rounds that don't count. */
export async function inTurns(jobs: Readonly<Record<string, Job>>, rounds: number, warm = 2): Promise<Side> {
  const side: Side = { values: {} };
  const children: [string, ChildProcess][] = [];
  try {
    // One after the other: making a million keys ready is no time to be disturbed.
    for (const [name, job] of Object.entries(jobs)) {
      const [process, { module }] = await started(job);
      children.push([name, process]);
      if (module !== undefined) side.module = module;
    }
    for (let round = -warm; round < rounds; round++) {
      for (const [name, process] of children) {
        process.send("go");
        const turn = (await said(process)) as Turn;
        if (round >= 0) add(side, name, turn);
      }
    }
  } finally {
    for (const [, process] of children) process.kill();
  }
  return side;
}

/** As {@link inTurns}, in a fresh process for each turn: for what can be done only once. */
export async function inFreshTurns(jobs: Readonly<Record<string, Job>>, rounds: number): Promise<Side> {
  const side: Side = { values: {} };
  for (let round = 0; round < rounds; round++) {
    for (const [name, job] of Object.entries(jobs)) {
      const one = await inTurns({ [name]: job }, 1, 0);
      if (one.module !== undefined) side.module = one.module;
      for (const [column, values] of Object.entries(one.values[name] ?? {}))
        add(side, name, { [column]: values[0] ?? Number.NaN });
    }
  }
  return side;
}

function add({ values }: Side, name: string, turn: Turn): void {
  values[name] ??= {};
  const columns = values[name];
  for (const [column, value] of Object.entries(turn)) {
    columns[column] ??= [];
    columns[column].push(value);
  }
}
