/** Runs Node where no file can grow past so many blocks, which looks like a full disk: the program, and its first arguments. */
export function nodeWithin(blocks: number | "unlimited"): readonly [program: string, ...first: string[]] {
  return ["sh", "-c", `ulimit -f ${blocks} && exec "$0" "$@"`, process.execPath];
}
