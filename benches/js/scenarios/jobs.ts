// What a job costs that a queue paces, and one that need not wait.

import { cpuOfJobs, type Pace } from "../queues.ts";
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
  return async () => ({
    atOnce: await cpuOfJobs(queue, jobs, AT_ONCE),
    paced: await cpuOfJobs(queue, jobs, PACED),
  });
}
