import assert from "node:assert/strict";
import { it } from "node:test";
import { HotKVError } from "tidegate";
import { admitCommand, commandCases, POLICY_FILES, policyCases, type VectorReply } from "./node/vectors.ts";

/** A store as the worked cases use it: nothing in it at first, and its clock set by each step. */
export interface ConformingStore {
  /** The command's reply at the time `at`, as `HotKV.command` gives it. */
  command(at: number, command: readonly string[]): Promise<unknown>;
  /** Ends whatever holds the store and starts on what it stored. */
  reopen?(): Promise<void>;
  close(): Promise<void>;
}

/** Which worked cases are run, and how often the store is reopened between two steps. */
export interface ConformanceOptions {
  /** Only every so many-th case of the random ones. */
  readonly everyCase?: number;
  /** Leaves out the cases whose clock steps back. */
  readonly monotonic?: boolean;
  /** Reopens after every so many-th step. */
  readonly reopenEvery?: number;
}

/** Tests that every worked case holds on the stores that `open` makes, one for each case. */
export function itConforms(open: () => Promise<ConformingStore>, options: ConformanceOptions = {}): void {
  const { everyCase = 1, reopenEvery = 0, monotonic = false } = options;
  let steps = 0;
  const afterStep = async (store: ConformingStore) => {
    if (reopenEvery > 0 && ++steps % reopenEvery === 0) await store.reopen?.();
  };
  const stepsBack = (steps: readonly { readonly at: number }[]) =>
    steps.some(({ at }, index) => index > 0 && at < (steps[index - 1]?.at ?? 0));
  const chosen = <T extends { readonly steps: readonly { readonly at: number }[] }>(
    file: string,
    cases: readonly T[],
  ) =>
    cases
      .filter(({ steps = [] }) => !monotonic || !stepsBack(steps))
      .filter((_, index) => !file.startsWith("shared") || index % everyCase === 0);

  for (const file of ["reference-commands", "shared-commands"] as const) {
    for (const { name, steps } of chosen(file, commandCases(file))) {
      it(`${file}: ${name}`, async () => {
        const store = await open();
        try {
          for (const [index, { at, command, reply }] of steps.entries()) {
            const given = await outcome(() => store.command(at, command));
            assertReply(given, reply, `step ${index}: ${command.join(" ")}`);
            await afterStep(store);
          }
        } finally {
          await store.close();
        }
      });
    }
  }

  for (const file of POLICY_FILES) {
    for (const { name, rate, error, steps } of chosen(file, policyCases(file))) {
      it(`${file}: ${name}`, async () => {
        const store = await open();
        try {
          const defined = await outcome(() =>
            store.command(steps[0]?.at ?? 0, ["VALVE.DEFINE", "ns", JSON.stringify(rate)]),
          );
          if (error !== undefined) {
            assert.ok(isError(defined) && defined.error.startsWith(error), JSON.stringify(defined));
            return;
          }
          assert.ok(typeof defined === "string", JSON.stringify(defined));
          for (const [index, step] of steps.entries()) {
            const { at, reply } = step;
            const ask = admitCommand(defined, step);
            const given = await outcome(() => store.command(at, ask));
            const due: VectorReply =
              "error" in reply
                ? { error: reply.error }
                : [Number(reply.allowed), reply.startsInMs ?? reply.retryAfterMs, reply.blockedBy ?? []];
            assertReply(given, due, `step ${index}: ${ask.join(" ")}`);
            await afterStep(store);
          }
        } finally {
          await store.close();
        }
      });
    }
  }
}

async function outcome(run: () => Promise<unknown>): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof HotKVError && error.code !== "STORE_UNAVAILABLE") return { error: error.message };
    throw error;
  }
}

/** Fails unless the reply is the one that is due; of an error, the beginning may be given. */
function assertReply(given: unknown, due: VectorReply, label: string): void {
  if (isError(due)) {
    assert.ok(isError(given) && given.error.startsWith(due.error), `${label}: ${JSON.stringify(given)}`);
    return;
  }
  const plain = due !== null && typeof due === "object" && "ok" in due ? due.ok : due;
  assert.deepEqual(given, plain, label);
}

function isError(reply: unknown): reply is { error: string } {
  return reply !== null && typeof reply === "object" && "error" in reply;
}
