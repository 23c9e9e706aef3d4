// What a result says of itself: checked by tsc alone, never run.

import { expectTypeOf } from "expect-type";
import type { AdmitResult, Engine, GcraLimitManyResult, HotKV, RateLimitStats, Reply } from "tidegate";
import { type HotKVError, ValveError, type ValveErrorCode } from "tidegate";
import { parseRateLimit } from "tidegate/fetch";

declare const engine: Engine;
declare const client: HotKV;
declare const admitted: AdmitResult;
declare const thrown: unknown;

// `denied` tells the two results of one command apart.
const limited = await client.gcraLimit("k", 60_000, 10);
expectTypeOf(engine.gcraLimit("k", 60_000, 10)).toEqualTypeOf(limited);
if (limited.denied) {
  expectTypeOf(limited.denied).toEqualTypeOf<true>();
  expectTypeOf(limited.retryAfterMs).toEqualTypeOf<number>();
} else {
  expectTypeOf(limited.denied).toEqualTypeOf<false>();
  expectTypeOf(limited.retryAfterMs).toEqualTypeOf<-1>();
}
expectTypeOf(limited.remaining).toEqualTypeOf<number>();
expectTypeOf(limited.unavailable).toEqualTypeOf<true | undefined>();
// @ts-expect-error: a result is read, not written
limited.remaining = 1;

// `allowed` does for the check of a named limiter, and its peek.
const checked = await client.rateLimitCheck("uploads", "k", { cost: 2 });
expectTypeOf(engine.rateLimitPeek("uploads", "k")).toEqualTypeOf(checked);
if (checked.allowed) expectTypeOf(checked.retryAfterMs).toEqualTypeOf<0>();
else expectTypeOf(checked.retryAfterMs).toEqualTypeOf<number>();
expectTypeOf(checked.current).toEqualTypeOf<number>();

// And for a job that asked without waiting.
if (admitted.allowed) {
  expectTypeOf(admitted.retryAfterMs).toEqualTypeOf<0>();
  expectTypeOf(admitted.blockedBy).toEqualTypeOf<readonly []>();
} else {
  expectTypeOf(admitted.retryAfterMs).toEqualTypeOf<number>();
  expectTypeOf(admitted.blockedBy[0]?.index).toEqualTypeOf<number | undefined>();
  expectTypeOf(admitted.blockedBy[0]?.name).toEqualTypeOf<string | undefined>();
}

// The rest is what it looks like.
expectTypeOf(engine.gcraLimitMany(["a", "b"], 1000, 1)).toEqualTypeOf<GcraLimitManyResult>();
expectTypeOf(client.rateLimitStats("uploads")).resolves.toEqualTypeOf<RateLimitStats>();
expectTypeOf(client.rateLimitList()).resolves.toEqualTypeOf<string[]>();
expectTypeOf(client.get("k")).resolves.toEqualTypeOf<string | null>();
expectTypeOf(client.set("k", 1, { px: 5 })).resolves.toEqualTypeOf<boolean>();
expectTypeOf(client.command("PING")).resolves.toEqualTypeOf<Reply>();
expectTypeOf(parseRateLimit).returns.not.toBeAny();

// Errors are told apart by their class, and then by their code.
if (thrown instanceof ValveError) {
  expectTypeOf(thrown.code).toEqualTypeOf<ValveErrorCode>();
  // @ts-expect-error: no error of a valve has this code
  thrown.code === "TIMED_OUT";
}
expectTypeOf<HotKVError>().toExtend<Error>();
