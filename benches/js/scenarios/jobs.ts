// CPU microseconds of a job that a queue paces, every thread of the process counted.

import { type Pace, queues } from "../queues.ts";
import type { Turn } from "../turns.ts";

export interface Settings {
  readonly queue: string;
  readonly jobs: number;
}

/** Nobody waits. */
const AT_ONCE: Pace = { limit: 1_000_000, interval: 1000 };
/** All but the first thousand wait: 250 ms is the shortest interval that bottleneck takes. */
const PACED: Pace = { limit: 1000, interval: 250 };

export async function prepare({ queue, jobs }: Settings): Promise<() => Promise<Turn>> {
  const cpu = async (pace: Pace): Promise<number> => {
    const run = await queues[queue]?.(pace);
    if (run === undefined) throw new Error(`there is no queue ${queue}`);
    const before = process.cpuUsage();
    const results = await Promise.all(Array.from({ length: jobs }, (_, at) => run(() => at)));
    const { user, system } = process.cpuUsage(before);
    if (results.at(-1) !== jobs - 1) throw new Error(`${queue} lost a job's result`);
    return (user + system) / jobs;
  };
  return async () => ({ atOnce: await cpu(AT_ONCE), paced: await cpu(PACED) });
}
