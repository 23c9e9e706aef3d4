// The CPU that a process has had so far.

import { readdirSync, readFileSync } from "node:fs";

/** Nanoseconds on a processor, all threads of the process together, as Linux's scheduler counts them. */
export function cpuOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((sum, thread) => {
    try {
      return sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
    } catch {
      // The thread ended meanwhile.
      return sum;
    }
  }, 0);
}
