// Tidegate's HotKV in this process: the engine's answer behind a promise.

import { Engine, HotKV } from "tidegate";
import type { Subject } from "../subject.ts";

export const subject: Subject = {
  awaited: true,
  make({ period, burst }) {
    const client = new HotKV();
    return (key) => client.gcraLimit(key, period, burst);
  },
  memory: () => new Engine().stats().memoryBytes,
};
