import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { parseReply, resp, type VectorReply } from "../node/vectors.ts";
import { bundle, temporaryFolder, Workerd } from "./workerd.ts";

/** An error reply as the test's Worker shows it. */
export interface Failure {
  readonly error: string;
  readonly code: string;
  readonly retryable?: boolean;
}

/** The test's Worker in workerd. */
export class TestWorker {
  readonly workerd: Workerd;
  readonly #folder: string;
  #names = 0;

  private constructor(workerd: Workerd, folder: string) {
    this.workerd = workerd;
    this.#folder = folder;
  }

  static async start(variables: Record<string, string> = {}): Promise<TestWorker> {
    const folder = temporaryFolder();
    const workerd = await Workerd.start({
      folder: await bundle("./worker.ts", folder),
      storage: join(folder, "storage"),
      classes: { TIDEGATE: "TestObject" },
      variables,
    });
    return new TestWorker(workerd, folder);
  }

  /** Ends it, and all it stored. */
  async stop(): Promise<void> {
    await this.workerd.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** A name that nothing else has: storage is not reset between tests. */
  fresh(what: string): string {
    return `${what} ${++this.#names}`;
  }

  /** What the Worker answers to a hook. */
  async ask<T>(path: string, body: object = {}): Promise<T> {
    const response = await fetch(this.workerd.url + path, { method: "POST", body: JSON.stringify(body) });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  /** The replies to commands sent through `HotKV`, in one pipeline. */
  run(options: object, commands: readonly (readonly (string | number)[])[], at?: number | null): Promise<unknown[]> {
    return this.ask("/run", { options, commands, ...(at === undefined ? {} : { at }) });
  }

  /** The replies to commands sent to one object. */
  async raw(object: string, at: number, commands: readonly (readonly string[])[]): Promise<Uint8Array> {
    const url = `${this.workerd.url}/raw?${new URLSearchParams({ object, at: String(at) })}`;
    const body = new Uint8Array(Buffer.concat(commands.map(resp)));
    const response = await fetch(url, { method: "POST", body });
    assert.equal(response.status, 200);
    return new Uint8Array(await response.arrayBuffer());
  }

  /** The reply to one command sent to one object. */
  async one(object: string, at: number, ...command: string[]): Promise<VectorReply> {
    return parseReply(await this.raw(object, at, [command]));
  }

  /** Rows and calls since this was last asked; how long objects take from now on. */
  count(delayMs = 0): Promise<{ read: number; written: number; calls: number }> {
    return this.ask("/count", { delayMs });
  }
}
