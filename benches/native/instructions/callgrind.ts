// Instructions by callgrind, the same on every run and every machine with the same compiler.

import { execFile, execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Counted } from "./cases.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const run = promisify(execFile);

/**
 * An environment of its own, since its bytes are on the program's stack; and libc's plain functions, where it would choose
 * by what the processor can do.
 */
const env = {
  GLIBC_TUNABLES: "glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-AVX512VL,-ERMS,-FSRM,-SSSE3,-SSE4_1,-SSE4_2,-BMI2",
};

/** Builds the binary of that name, and says where it is. */
export function built(name: string): string {
  const args = [
    "build",
    "--release",
    "--package",
    "tidegate-benches",
    "--bin",
    name,
    "--message-format",
    "json-render-diagnostics",
  ];
  const out = execFileSync("cargo", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  for (const line of out.trim().split("\n")) {
    const { executable } = JSON.parse(line) as { executable?: string | null };
    if (executable?.endsWith(name)) return executable;
  }
  throw new Error(`cargo built no ${name}`);
}

/** The compiler, which has a say in every count. */
export function compiler(): string {
  return execFileSync("rustc", ["--version"], { encoding: "utf8" }).split(" ")[1] ?? "";
}

/** Instructions of a whole run of the program. */
async function instructions(program: string, args: readonly string[]): Promise<number> {
  const options = ["--tool=callgrind", "--callgrind-out-file=/dev/null", program, ...args];
  const { stderr } = await run("valgrind", options, { cwd: "/", env: { ...env, PATH: process.env["PATH"] } });
  const collected = /Collected : (\d+)/.exec(stderr)?.[1];
  if (collected === undefined) throw new Error(`callgrind counted nothing: ${stderr}`);
  return Number(collected);
}

/** Instructions of one decision, to a tenth. */
export async function each(program: string, { less, more, decisions }: Counted): Promise<number> {
  const [without, with_] = await Promise.all([instructions(program, less), instructions(program, more)]);
  return Math.round(((with_ - without) * 10) / decisions) / 10;
}
