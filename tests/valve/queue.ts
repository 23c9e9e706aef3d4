// What so many queued jobs take, printed as JSON: bytes of heap a waiting job, store calls and timers until all are done. Run alone
// with --expose-gc: the heap of one process is one.

import { HotKV, Valve } from "tidegate";
import { VirtualTime } from "./virtual.ts";

const gc = (globalThis as { gc?: () => void }).gc ?? (() => {});
const heap = () => {
  gc();
  return process.memoryUsage().heapUsed;
};

const jobs = Number(process.argv[2]);
const time = new VirtualTime();
const store = new HotKV({ clock: time.clock });
let calls = 0;
const counted = {
  pipeline: (commands: Parameters<typeof store.pipeline>[0]) => {
    calls++;
    return store.pipeline(commands);
  },
};
const rate = { limit: 1000, interval: "1s", algorithm: "fixed-window" } as const;
const valve = new Valve({ store: counted, namespace: "ns", rate, timers: time });
await valve.run(() => {});

const before = heap();
let [done, inOrder] = [0, true];
for (let job = 0; job < jobs; job++) {
  void valve.run(() => {
    inOrder &&= done === job;
    done++;
  });
}
const bytesPerJob = (heap() - before) / jobs;
await time.drain();
console.log(JSON.stringify({ bytesPerJob, calls, timers: time.setCount, most: time.most, done, inOrder }));
