// How many jobs a second of CPU a long queue takes in and hands out.

import { cpuOfJobs } from "../queues.ts";
import type { Turn } from "../turns.ts";

export interface Settings {
  readonly queue: string;
  readonly jobs: number;
}

export async function prepare({ queue, jobs }: Settings): Promise<() => Promise<Turn>> {
  // A tenth at a time, so that nearly all of them wait, and some of them long.
  const pace = { limit: Math.ceil(jobs / 10), interval: 250 };
  return async () => ({ perSecond: 1e6 / (await cpuOfJobs(queue, jobs, pace)) });
}
