import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";

/** Programs that run now: each leads a process group, so that what it started ends with it. */
const running = new Set<ChildProcess>();

/** Starts a program. */
export function start(program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(program, args, { ...options, detached: true });
  running.add(child);
  child.once("close", () => running.delete(child));
  child.once("error", () => running.delete(child));
  return child;
}

/** Runs a program to its end; what it wrote to standard output. Fails when it does, or takes longer than `timeoutMs`. */
export async function run(
  program: string,
  args: readonly string[],
  options: SpawnOptions & { readonly timeoutMs?: number } = {},
): Promise<string> {
  const { timeoutMs = 120_000, ...rest } = options;
  const child = start(program, args, { ...rest, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  const late = setTimeout(() => stop(child), timeoutMs);
  try {
    const status = await new Promise<number | string | null>((done, failed) => {
      child.once("error", failed);
      child.once("close", (code, signal) => done(code ?? signal));
    });
    if (status === 0) return stdout;
    throw new Error(`${program} ${args.slice(0, 3).join(" ")} ended with ${status}\n${stderr || stdout}`);
  } finally {
    clearTimeout(late);
  }
}

/** Ends a program and all that it started. */
export function stop({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** Ends every program that runs. */
export function stopAll(): void {
  for (const child of running) stop(child);
}
