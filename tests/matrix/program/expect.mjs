// What the program checks with: it runs where there is no node:assert.

/** Fails unless both are the same in JSON. */
export function equal(given, due, label) {
  const [got, wanted] = [JSON.stringify(given), JSON.stringify(due)];
  if (got !== wanted) throw new Error(`${label}: ${got}, where ${wanted} was due`);
}

/** Fails unless `run` fails with that code, in words that match. */
export async function refused(run, code, words) {
  let result;
  try {
    result = await run();
  } catch (error) {
    if (error?.code === code && words.test(error.message)) return;
    throw new Error(`${error?.code}: ${error?.message}, where ${code} and ${words} were due`, { cause: error });
  }
  throw new Error(`${JSON.stringify(result)}, where ${code} was due`);
}
