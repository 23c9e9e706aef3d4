import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Command, Engine, type Reply } from "tidegate";
import { createLimiter, dropLimiter, type Steps } from "../../pkg/dist/workers/directory.js";

const create: Command = ["RATELIMIT.CREATE", "api", 2, 1000, "ALGO", "leaky_bucket", "DRAIN", "1.5"];
const drop: Command = ["RATELIMIT.DROP", "api"];
const taken = "ERR limiter already exists or limit reached";

/** A limiter's object and the directory as two engines, with one step that never comes back. */
class TwoObjects {
  readonly object = new Engine();
  readonly directory: Engine;
  #stepsLeft = Number.POSITIVE_INFINITY;
  /** What somebody else does just before the step of this number. */
  meanwhile: { step: number; act: () => Promise<unknown> } | undefined;
  #step = 0;

  constructor(maxLimiters = 10) {
    this.directory = new Engine({ maxLimiters });
  }

  /** The steps of one command, the one after `steps` of them lost, and whether it was run or only its answer lost. */
  steps(steps = Number.POSITIVE_INFINITY, ran = false): Steps {
    this.#stepsLeft = steps;
    this.#step = 0;
    const send = (engine: Engine) => async (commands: readonly Command[]) => {
      const { meanwhile } = this;
      if (meanwhile?.step === this.#step++) {
        this.meanwhile = undefined;
        const left = this.#stepsLeft;
        await meanwhile.act();
        this.#stepsLeft = left;
      }
      if (this.#stepsLeft-- > 0) return engine.pipeline(commands);
      if (ran) engine.pipeline(commands);
      throw new Error("lost");
    };
    return { object: send(this.object), directory: send(this.directory) };
  }

  get listed(): boolean {
    return this.directory.rateLimitList().includes("api");
  }

  get exists(): boolean {
    return this.object.rateLimitList().includes("api");
  }
}

async function outcome(run: Promise<Reply>): Promise<unknown> {
  try {
    const reply = await run;
    return reply instanceof Error ? reply.message : reply;
  } catch {
    return "lost";
  }
}

describe("a limiter over two objects", () => {
  for (const ran of [false, true]) {
    for (let step = 0; step < 3; step++) {
      const lost = ran ? `the answer to step ${step}` : `step ${step}`;

      it(`creating, ${lost} lost: the same command again completes it`, async () => {
        const both = new TwoObjects();
        assert.equal(await outcome(createLimiter(create, both.steps(step, ran))), "lost");
        const again = await outcome(createLimiter(create, both.steps()));
        assert.ok(again === "OK" || again === taken, String(again));
        assert.deepEqual([both.listed, both.exists], [true, true]);
      });

      it(`creating, ${lost} lost: dropping it leaves nothing`, async () => {
        const both = new TwoObjects();
        await outcome(createLimiter(create, both.steps(step, ran)));
        await outcome(dropLimiter(drop, both.steps()));
        assert.deepEqual([both.listed, both.exists], [false, false]);
      });

      it(`dropping, ${lost} lost: the same command again completes it`, async () => {
        const both = new TwoObjects();
        await createLimiter(create, both.steps());
        assert.equal(await outcome(dropLimiter(drop, both.steps(step, ran))), "lost");
        await outcome(dropLimiter(drop, both.steps()));
        assert.deepEqual([both.listed, both.exists], [false, false]);
      });

      it(`dropping, ${lost} lost: creating it again makes it whole`, async () => {
        const both = new TwoObjects();
        await createLimiter(create, both.steps());
        await outcome(dropLimiter(drop, both.steps(step, ran)));
        await outcome(createLimiter(create, both.steps()));
        assert.deepEqual([both.listed, both.exists], [true, true]);
      });
    }
  }

  it("a listed limiter that does not exist says so, and never more than max-limiters exist", async () => {
    const both = new TwoObjects(1);
    await outcome(createLimiter(create, both.steps(1)));
    assert.deepEqual([both.listed, both.exists], [true, false]);
    assert.throws(() => both.object.rateLimitCheck("api", "k"), { message: "ERR limiter not found" });
    const other: Command = ["RATELIMIT.CREATE", "other", 1, 1000];
    assert.equal(await outcome(createLimiter(other, both.steps())), taken);
    assert.deepEqual(both.object.rateLimitList(), []);
  });

  for (let step = 0; step < 3; step++) {
    it(`a creation while a drop is before its step ${step}: what exists is listed, as it was made`, async () => {
      const both = new TwoObjects();
      await createLimiter(create, both.steps());
      both.meanwhile = { step, act: () => createLimiter(create, both.steps()) };
      await dropLimiter(drop, both.steps());
      assert.equal(both.listed, both.exists);
      if (both.exists) {
        const { algo, drain } = both.directory.rateLimitStats("api");
        assert.deepEqual([algo, drain], ["leaky_bucket", "1.5"]);
      }
    });

    it(`a drop while a creation is before its step ${step}: what exists is listed`, async () => {
      const both = new TwoObjects();
      both.meanwhile = { step, act: () => dropLimiter(drop, both.steps()) };
      await createLimiter(create, both.steps());
      assert.ok(both.listed || !both.exists);
    });
  }

  it("wrong settings are refused and nothing is listed", async () => {
    const both = new TwoObjects();
    const wrong: Command = ["RATELIMIT.CREATE", "api", 0, 1000];
    assert.match(String(await outcome(createLimiter(wrong, both.steps()))), /^ERR value is not an integer/);
    assert.deepEqual([both.listed, both.exists], [false, false]);
    assert.equal(await outcome(dropLimiter(drop, both.steps())), "ERR limiter not found");
  });
});
