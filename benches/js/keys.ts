// Keys as a request brings them: flat text out of bytes, whose hash nobody has asked for yet.

const BYTES = 20;

/** The keys of these users. */
export function freshKeys(users: ArrayLike<number>): string[] {
  const bytes = Buffer.alloc(users.length * BYTES, "user:000000000000000", "latin1");
  for (let index = 0; index < users.length; index++) {
    let rest = users[index] ?? 0;
    for (let at = (index + 1) * BYTES - 1; rest > 0; at--, rest = Math.floor(rest / 10)) bytes[at] = 0x30 + (rest % 10);
  }
  return Array.from(users, (_, index) => bytes.toString("latin1", index * BYTES, (index + 1) * BYTES));
}

/** An endless, repeatable walk over `0..count` that visits uniformly, as independent users would. */
export function walk(count: number): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
}
