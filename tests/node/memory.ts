// How much wasm memory an engine takes, printed as JSON. Run alone: the memory of one process is one.

import { Engine } from "tidegate";
import { memoryBytes } from "../../pkg/dist/module.js";

const START = 1_764_547_200_000;

if (process.argv[2] === "engines") {
  const round = () => {
    for (let made = 0; made < 1000; made++) {
      const engine = new Engine();
      for (let key = 0; key < 20; key++) engine.gcraLimit(`key:${key}`, 60_000, 10);
      engine.close();
    }
  };
  round();
  const full = memoryBytes();
  round();
  console.log(JSON.stringify({ full, after: memoryBytes() }));
} else {
  let now = START;
  const engine = new Engine({ clock: () => now });
  for (let key = 0; key < 1_000_000; key++) engine.gcraLimit(`user:${String(key).padStart(15, "0")}`, 3_600_000, 1);
  const full = memoryBytes();
  now += 3_600_000;
  const keys: string[] = [];
  for (let batch = 0; batch < 10_000; batch++) {
    keys.length = 0;
    for (let key = 0; key < 1000; key++) keys.push(`peer:${String(batch * 1000 + key).padStart(15, "0")}`);
    engine.gcraLimitMany(keys, 60_000, 1);
    now += 100;
  }
  console.log(JSON.stringify({ full, after: memoryBytes() }));
}
