// Tidegate's Engine, as the package ships it.

import { Engine } from "tidegate";
import type { Subject } from "../subject.ts";

export const subject: Subject = {
  make({ period, burst }) {
    const engine = new Engine();
    return (key) => engine.gcraLimit(key, period, burst);
  },
  memory: () => new Engine().stats().memoryBytes,
};
