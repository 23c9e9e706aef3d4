import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type Admission, admits, assertNoBreach, LOAD, SETUP } from "../admissions.ts";
import { TestWorker } from "./harness.ts";

const { KILL_ROUNDS = "4" } = process.env;
const ROUNDS = Number(KILL_ROUNDS);

let worker: TestWorker;
before(async () => {
  worker = await TestWorker.start();
});
after(() => worker?.stop());

describe("workerd killed under load, and started again on what it stored", () => {
  it("no admission that was answered is forgotten", async () => {
    const options = { namespace: "kill", denyCacheMs: 0, timeoutMs: 2000 };
    const [, fingerprint] = await worker.run(options, SETUP);
    assert.equal(typeof fingerprint, "string");
    const admissions = new Map<string, Admission[]>(LOAD.map(({ name }) => [name, []]));
    let running = true;
    const load = async ({ name, command }: (typeof LOAD)[number]) => {
      const ask = command.map((word) => (word === "FINGERPRINT" ? String(fingerprint) : word));
      while (running) {
        const sent = Date.now();
        try {
          const [reply] = await worker.run(options, [ask]);
          if (admits(name, reply)) admissions.get(name)?.push({ sent, answered: Date.now(), units: 1 });
        } catch {
          // Killed meanwhile: whether it was admitted is not known, and not counted.
          await new Promise((done) => setTimeout(done, 5));
        }
      }
    };
    const loads = LOAD.flatMap((kind) => [load(kind), load(kind)]);
    for (let round = 0; round < ROUNDS; round++) {
      await new Promise((done) => setTimeout(done, 400 + Math.random() * 300));
      await worker.workerd.kill();
      await worker.workerd.start();
    }
    await new Promise((done) => setTimeout(done, 300));
    running = false;
    await Promise.all(loads);
    for (const { name, bound } of LOAD) {
      const made = admissions.get(name) ?? [];
      assert.ok(made.length >= bound.units, `${name}: ${made.length} admissions`);
      assertNoBreach(made, bound, name);
    }
  });
});
