import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** What `npm start` serves. */
export interface Started {
  readonly url: string;
  /** All that it printed. */
  readonly printed: string;
  /** Ends it as Ctrl-C does; its exit status. */
  stop(): Promise<number | null>;
}

/** Runs what `npm start` runs, and waits until it says that it serves. */
export async function npmStart(): Promise<Started> {
  const child = spawn(process.execPath, ["scripts/start.mjs"], {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((done) => child.once("exit", done));
  let printed = "";
  await new Promise<void>((done, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text) => {
      printed += text;
      if (printed.includes("Ctrl-C stops it")) done();
    });
    void ended.then(() => reject(new Error(`ended early:\n${printed}`)));
  });
  const [url = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(printed) ?? [];
  return {
    url,
    printed,
    stop: () => {
      child.kill("SIGINT");
      return ended;
    },
  };
}
