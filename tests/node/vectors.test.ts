import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Engine, HotKV, HotKVError, type LimiterAlgorithm } from "tidegate";
import { type CommandCase, commandCases, parseReply, resp, type VectorReply } from "./vectors.ts";

/** The methods that `Engine` has at once and `HotKV` in a promise. */
type Typed = Engine | HotKV;

const files = ["reference-commands", "shared-commands"] as const;

for (const file of files) {
  describe(`${file}: every case holds through execute`, () => {
    for (const { name, steps } of commandCases(file)) {
      it(name, () => {
        let now = 0;
        using engine = new Engine({ clock: () => now });
        steps.forEach(({ at, command, reply }, step) => {
          now = at;
          expectReply(file, parseReply(engine.execute(resp(command))), reply, `step ${step}: ${command.join(" ")}`);
        });
      });
    }
  });

  describe(`${file}: every case holds through the typed methods of Engine`, () => {
    for (const vector of commandCases(file)) {
      it(vector.name, () => holdsTyped(file, vector, (clock) => new Engine({ clock })));
    }
  });

  describe(`${file}: every case holds through the typed methods of HotKV`, () => {
    for (const vector of commandCases(file)) {
      it(vector.name, () => holdsTyped(file, vector, (clock) => new HotKV({ url: "memory:", clock })));
    }
  });
}

async function holdsTyped(file: string, { steps }: CommandCase, make: (clock: () => number) => Typed): Promise<void> {
  let now = 0;
  const store = make(() => now);
  for (const [step, { at, command, reply }] of steps.entries()) {
    now = at;
    const label = `step ${step}: ${command.join(" ")}`;
    let got: VectorReply;
    try {
      got = await typed(store, command);
    } catch (error) {
      assert.ok(error instanceof HotKVError, `${label}: ${error}`);
      // The typed methods refuse a wrong argument before it becomes a command, with a better text.
      if (error.code === "INVALID_ARGUMENT") {
        assert.ok(isError(reply), `${label}: refused with ${error.message}`);
        assert.ok(error.argument, `${label}: the error names no argument`);
        continue;
      }
      got = { error: error.message };
    }
    expectReply(file, got, reply, label);
  }
  await store.close();
}

/** Runs a command through its typed method when its arguments are of the right types, and gives back what it would reply. */
async function typed(store: Typed, command: readonly string[]): Promise<VectorReply> {
  const [name = "", ...args] = command;
  const [first = "", second = "", third = "", fourth = ""] = args;
  const integers = (texts: readonly string[]) => texts.every((text) => /^-?(0|[1-9]\d*)$/.test(text));
  switch (name.toUpperCase()) {
    case "GCRA.LIMIT": {
      if (args.length < 3 || args.length > 4 || !integers(args.slice(1))) break;
      const count = args.length === 4 ? Number(fourth) : undefined;
      const result = await store.gcraLimit(first, Number(second), Number(third), count);
      return [Number(result.denied), result.limit, result.remaining, result.retryAfterMs, result.resetAfterMs];
    }
    case "GCRA.RESET":
      if (args.length === 0) break;
      return store.gcraReset(...args);
    case "RATELIMIT.CREATE": {
      const options = limiterOptions(args.slice(3));
      if (args.length < 3 || !integers([second, third]) || options === undefined) break;
      await store.rateLimitCreate(first, Number(second), Number(third), options);
      return { ok: "OK" };
    }
    case "RATELIMIT.CHECK": {
      if (args.length !== 2 && !(args.length === 4 && third.toUpperCase() === "COST" && integers([fourth]))) break;
      const options = args.length === 4 ? { cost: Number(fourth) } : {};
      const result = await store.rateLimitCheck(first, second, options);
      return [Number(result.allowed), result.remaining, result.retryAfterMs, result.limit, result.current];
    }
    case "RATELIMIT.PEEK": {
      if (args.length !== 2) break;
      const result = await store.rateLimitPeek(first, second);
      return [Number(result.allowed), result.remaining, result.retryAfterMs, result.limit, result.current];
    }
    case "RATELIMIT.RESET":
      if (args.length !== 2) break;
      await store.rateLimitReset(first, second);
      return { ok: "OK" };
    case "RATELIMIT.DROP":
      if (args.length !== 1) break;
      await store.rateLimitDrop(first);
      return { ok: "OK" };
    case "RATELIMIT.LIST":
      if (args.length !== 0) break;
      return store.rateLimitList();
    case "RATELIMIT.STATS": {
      if (args.length !== 1) break;
      const {
        name: limiter,
        algo,
        limit,
        windowMs,
        uniqueKeys,
        totalAllowed,
        totalDenied,
        refill,
        drain,
      } = await store.rateLimitStats(first);
      const reply: VectorReply = ["name", limiter, "algo", algo, "limit", limit, "window_ms", windowMs];
      if (refill !== undefined) reply.push("refill", refill);
      if (drain !== undefined) reply.push("drain", drain);
      reply.push("unique_keys", uniqueKeys, "total_allowed", totalAllowed, "total_denied", totalDenied);
      return reply;
    }
    case "GET":
      if (args.length !== 1) break;
      return store.get(first);
    case "SET":
      if (args.length !== 2) break;
      assert.equal(await store.set(first, second), true);
      return { ok: "OK" };
    case "DEL":
      if (args.length === 0) break;
      return store.del(...args);
    case "EXISTS":
      if (args.length === 0) break;
      return store.exists(...args);
    case "TYPE":
      if (args.length !== 1) break;
      return { ok: await store.type(first) };
    case "TTL":
      if (args.length !== 1) break;
      return store.ttl(first);
    case "PTTL":
      if (args.length !== 1) break;
      return store.pttl(first);
  }
  return (await store.command(name, ...args)) as VectorReply;
}

function limiterOptions(args: readonly string[]) {
  const options: { algo?: LimiterAlgorithm; refill?: string; drain?: string } = {};
  for (let at = 0; at < args.length; at += 2) {
    const value = args[at + 1];
    if (value === undefined) return undefined;
    switch (args[at]?.toUpperCase()) {
      case "ALGO":
        options.algo = value as LimiterAlgorithm;
        break;
      case "REFILL":
        options.refill = value;
        break;
      case "DRAIN":
        options.drain = value;
        break;
      default:
        return undefined;
    }
  }
  return options as Parameters<Engine["rateLimitCreate"]>[3];
}

function expectReply(file: string, got: VectorReply, expected: VectorReply, label: string): void {
  if (isError(expected)) {
    assert.ok(isError(got), `${label}: ${JSON.stringify(got)} where an error was due`);
    if (file === "reference-commands") {
      assert.ok(got.error.startsWith(expected.error), `${label}: ${got.error}`);
      return;
    }
  }
  // A typed method gives a status back as plain text.
  const plain = isStatus(expected) && typeof got === "string" ? { ok: got } : got;
  assert.deepEqual(plain, expected, label);
}

function isError(reply: VectorReply): reply is { error: string } {
  return reply !== null && typeof reply === "object" && "error" in reply;
}

function isStatus(reply: VectorReply): reply is { ok: string } {
  return reply !== null && typeof reply === "object" && "ok" in reply;
}
