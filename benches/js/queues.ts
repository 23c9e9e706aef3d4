// Queues that pace jobs: each runs some jobs, as many an interval as its rule says.

import { peer } from "./peers.ts";

/** At most `limit` jobs start in `interval` milliseconds. */
export interface Pace {
  readonly limit: number;
  readonly interval: number;
}

type Run = (job: () => number) => Promise<unknown>;

interface PQueue {
  readonly default: new (options: {
    intervalCap: number;
    interval: number;
  }) => { add(job: () => number): Promise<unknown> };
}
interface PThrottle {
  readonly default: (pace: Pace) => <T>(job: (argument: T) => unknown) => (argument: T) => Promise<unknown>;
}
interface Bottleneck {
  readonly default: new (
    options: Record<string, number>,
  ) => {
    schedule(job: () => Promise<number>): Promise<unknown>;
    disconnect(): Promise<void>;
  };
}

/** Each makes a new queue, and returns what runs a job in it. */
const queues: Readonly<Record<string, (pace: Pace) => Promise<Run>>> = {
  async valve({ limit, interval }) {
    const { Valve } = await import("tidegate");
    const rate = { limit, interval, algorithm: "fixed-window" } as const;
    const valve = new Valve({ namespace: "jobs", rate });
    return (job) => valve.run(job);
  },
  async "p-throttle"(pace) {
    const { default: pThrottle } = await peer<PThrottle>("p-throttle");
    return pThrottle(pace)((job: () => number) => job());
  },
  async "p-queue"({ limit, interval }) {
    const { default: PQueue } = await peer<PQueue>("p-queue");
    const queue = new PQueue({ intervalCap: limit, interval });
    return (job) => queue.add(job);
  },
  async bottleneck({ limit, interval }) {
    const { default: Bottleneck } = await peer<Bottleneck>("bottleneck");
    const refresh = { reservoirRefreshAmount: limit, reservoirRefreshInterval: interval };
    const limiter = new Bottleneck({ reservoir: limit, ...refresh });
    return (job) => limiter.schedule(async () => job());
  },
};

/** CPU microseconds of each of `jobs` jobs that are handed over at once, every thread of the process counted. */
export async function cpuOfJobs(queue: string, jobs: number, pace: Pace): Promise<number> {
  const run = await queues[queue]?.(pace);
  if (run === undefined) throw new Error(`there is no queue ${queue}`);
  const before = process.cpuUsage();
  const results = await Promise.all(Array.from({ length: jobs }, (_, at) => run(() => at)));
  const { user, system } = process.cpuUsage(before);
  if (results.at(-1) !== jobs - 1) throw new Error(`${queue} lost a job's result`);
  return (user + system) / jobs;
}
