import type { Command, Reply } from "../reply.ts";

/*
 * Limiters over two objects. A limiter is in an object of its own, which alone says whether it exists. The directory of its
 * namespace runs the same commands, so it holds every limiter's name and settings but no key: it answers RATELIMIT.LIST and
 * keeps to max-limiters.
 *
 * Creating: the directory first, which refuses one limiter too many; then the object; then the directory once more, in case
 * a drop that ran meanwhile took the name away. Dropping: the object first; then the directory; then a look at the object, in case
 * a creation that ran meanwhile made it again.
 *
 * Interrupted after any step, the directory may list a limiter that does not exist, and checks of it say so; the same command
 * again, or its opposite, completes and heals it. Only a drop interrupted while it raced with a creation can leave a limiter
 * unlisted; creating it again, which is refused, lists it.
 */

/** Sends commands to the object that its name says, or to the directory. */
export interface Steps {
  object(commands: readonly Command[]): Promise<readonly Reply[]>;
  directory(commands: readonly Command[]): Promise<readonly Reply[]>;
}

/** Runs `RATELIMIT.CREATE name …`. */
export async function createLimiter(create: Command, { object, directory }: Steps): Promise<Reply> {
  const name = create[1] ?? "";
  const [listed = null, stats = null] = await directory([create, ["RATELIMIT.STATS", name]]);
  // Refused, and not because the name is listed already: wrong arguments, or one limiter too many.
  if (listed instanceof Error && stats instanceof Error) return listed;
  const [created = null] = await object([create]);
  await directory([create]);
  return created;
}

/** Runs `RATELIMIT.DROP name`. */
export async function dropLimiter(drop: Command, { object, directory }: Steps): Promise<Reply> {
  const [dropped = null] = await object([drop]);
  await directory([drop]);
  const [stats = null] = await object([["RATELIMIT.STATS", drop[1] ?? ""]]);
  if (!(stats instanceof Error)) await directory([recreated(stats)]);
  return dropped;
}

/** The command that makes a limiter of these `RATELIMIT.STATS`. */
function recreated(stats: Reply): Command {
  const flat = Array.isArray(stats) ? (stats as readonly Reply[]) : [];
  const field = (name: string) => String(flat[flat.indexOf(name) + 1]);
  const rates = ["refill", "drain"].filter((rate) => flat.indexOf(rate) % 2 === 0 && flat.indexOf(rate) >= 8);
  return [
    "RATELIMIT.CREATE",
    field("name"),
    field("limit"),
    field("window_ms"),
    "ALGO",
    field("algo"),
    ...rates.flatMap((rate) => [rate.toUpperCase(), field(rate)]),
  ];
}
