// A job brings an identity for each dimension its policy names, and only a policy that names one asks: checked by tsc
// alone, never run.

import { expectTypeOf } from "expect-type";
import { type Rate, type RateRule, type RunOptions, type ScopeOf, Valve, type ValveOptions } from "tidegate";

const job = () => "done";

const open = new Valve({ namespace: "n", rate: { limit: 1, interval: "1s" } });
open.run(job);
open.admit();
expectTypeOf(open.run(job)).resolves.toEqualTypeOf<string>();
expectTypeOf(open.run(async ({ signal, waitedMs }) => [signal, waitedMs] as const)).resolves.toEqualTypeOf<
  readonly [AbortSignal, number]
>();

const scoped = new Valve({
  namespace: "n",
  rate: [
    { limit: 100, interval: "1s" },
    { limit: 1, interval: "1s", name: "each user", scope: "user" },
    { limit: 5, interval: "1m", name: "each tenant", scope: "tenant" },
  ],
});
scoped.run(job, { scope: { user: "u", tenant: "t" } });
scoped.admit({ scope: { user: "u", tenant: "t" }, cost: 1 });
const wrapped = scoped.wrap((a: number, b: string) => `${a}${b}`, { scope: { user: "u", tenant: "t" } });
expectTypeOf(wrapped).toEqualTypeOf<(a: number, b: string) => Promise<string>>();
// @ts-expect-error: whose budget is it
scoped.run(job);
// @ts-expect-error: whose budget is it
scoped.run(job, { cost: 1 });
// @ts-expect-error: whose budget is it
scoped.admit();
// @ts-expect-error: whose budget is it
scoped.wrap(job);
// @ts-expect-error: tenant is missing
scoped.run(job, { scope: { user: "u" } });
// @ts-expect-error: the policy knows no organization
scoped.run(job, { scope: { user: "u", tenant: "t", organization: "o" } });
// @ts-expect-error: an identity is text
scoped.run(job, { scope: { user: 42, tenant: "t" } });

const single = new Valve({ namespace: "n", rate: { limit: 1, interval: "1s", name: "a", scope: "user" } });
single.run(job, { scope: { user: "u" } });
// @ts-expect-error: one rule is as strict as several
single.run(job);

// The dimensions have a type of their own, for who writes functions over valves.
expectTypeOf<ScopeOf<{ limit: 1; interval: "1s"; name: "a"; scope: "user" }>>().toEqualTypeOf<"user">();
expectTypeOf<ScopeOf<{ limit: 1; interval: "1s" }>>().toEqualTypeOf<never>();
expectTypeOf<RunOptions<{ limit: 1; interval: "1s"; name: "a"; scope: "user" }>["scope"]>().toEqualTypeOf<
  Readonly<Record<"user", string>>
>();

// Rules that are read from somewhere have whatever scopes they have: the valve checks them when it runs.
declare const read: readonly RateRule[];
const dynamic = new Valve({ namespace: "n", rate: read });
dynamic.run(job);
dynamic.run(job, { scope: { anything: "x" } });
declare const options: ValveOptions<readonly RateRule[]>;
new Valve(options).run(job, { scope: { anything: "x" } });

// A function over any valve hands its options on, and asks for the same identities.
function eager<const R extends Rate>(options: ValveOptions<R>): Valve<R> {
  return new Valve(options);
}
const made = eager({ namespace: "n", rate: { limit: 1, interval: "1s", name: "a", scope: "user" } });
made.run(job, { scope: { user: "u" } });
// @ts-expect-error: whose budget is it
made.run(job);
