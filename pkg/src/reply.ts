/**
 * A command's reply as JavaScript values: integers are numbers (bigints past 2^53), bulk and simple strings are strings,
 * arrays and sets are arrays, maps are `Map`s, a missing value is `null`. An error reply that stands for the whole command
 * is thrown as a `HotKVError`; one inside an array is the `HotKVError` itself.
 */
export type Reply = string | number | bigint | boolean | null | Error | readonly Reply[] | ReadonlyMap<Reply, Reply>;

/** A command and its arguments. Numbers are sent as their decimal text. */
export type Command = readonly [name: string, ...args: readonly Argument[]];

/** One argument of a command. */
export type Argument = string | number | bigint | Uint8Array;
