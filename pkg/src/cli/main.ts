#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { Command, InvalidArgumentError, Option } from "commander";
import { HotKV, HotKVError } from "../index.node.ts";
import { addCompletion } from "./completion.ts";
import { STATUS } from "./exec.ts";
import { styled } from "./terminal.ts";

/** The command line of Tidegate: every command parses here and does its work in a file of its own. */
const program = new Command("tidegate")
  .description("Exact, atomic rate limiting: a server, and tools for limits and policies.")
  .version(version())
  .enablePositionalOptions()
  .showHelpAfterError("(add --help for what is allowed)")
  .configureOutput({ outputError: (text, write) => write(styled("red", text, process.stderr)) })
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : STATUS.error));

const HERE = "hotkv://127.0.0.1:6379";
const url = () =>
  new Option("-u, --url <url>", "where the limits are: memory:, file:PATH, https://…, hotkv://HOST:PORT")
    .env("TIDEGATE_URL")
    .default(HERE);
const token = () => new Option("--token <token>", "bearer token for https://").env("TIDEGATE_TOKEN");
const password = () => new Option("--password <password>", "password for hotkv://").env("TIDEGATE_PASSWORD");

interface Connect {
  readonly url: string;
  readonly token?: string;
  readonly password?: string;
}

/** A client for the options of a command, closed when `work` is done. */
async function connected<T>({ url, token, password }: Connect, work: (client: HotKV) => Promise<T>): Promise<T> {
  const client = new HotKV({
    url,
    ...(token === undefined ? {} : { token }),
    ...(password === undefined ? {} : { password }),
  });
  try {
    return await work(client);
  } catch (error) {
    // Who named no place may have started no server.
    if (url !== HERE || !(error instanceof HotKVError) || error.code !== "STORE_UNAVAILABLE") throw error;
    throw new Error(`${error.message}\n(start a server with tidegate serve, or name one with --url)`, { cause: error });
  } finally {
    await client.close();
  }
}

program
  .command("serve")
  .description("serve limits to any client that speaks the Redis protocol")
  .option("--host <address>", "address to listen on; anything but loopback needs a password", "127.0.0.1")
  .option("--port <port>", "port to listen on, 0 for a free one", integer(0, 65_535), 6379)
  .option("--data <path>", "keep limits in this file; without it they end with the process")
  .option("--password-file <path>", "clients must AUTH with the first line of this file")
  .option("--tls-cert <path>", "PEM certificate: clients connect over TLS")
  .option("--tls-key <path>", "PEM key of the certificate")
  .option("--max-clients <count>", "the most clients at once", integer(1), 10_000)
  .option("--max-memory-keys <count>", "the most keys in memory; a new one beyond that is refused with OOM", integer(1))
  .option("--idle-timeout <seconds>", "close a client that sends nothing for so long; 0 never", integer(0), 0)
  .option(
    "--metrics-port <port>",
    "serve /metrics (Prometheus) and /health on this port of 127.0.0.1",
    integer(0, 65_535),
  )
  .addOption(
    new Option("--log-format <format>", "json lines, or text for people").choices(["json", "text"]).default("json"),
  )
  .addHelpText(
    "after",
    examples("tidegate serve --data limits.db", "redis-cli -p 6379 GCRA.LIMIT api:user:42 60000 10"),
  )
  .action(async (options) => (await import("./serve.ts")).serveCommand(options));

program
  .command("exec")
  .description("run one command and print its reply; exits with 0 allowed, 1 denied, 2 error")
  .argument("<command>", "a command's name, such as GCRA.LIMIT")
  .argument("[args...]", "its arguments")
  .addOption(url())
  .addOption(token())
  .addOption(password())
  .option("--json", "print the reply as JSON", false)
  .passThroughOptions()
  .addHelpText(
    "after",
    examples("tidegate exec GCRA.LIMIT deploys 3600000 5 && ./deploy.sh", "tidegate exec --json RATELIMIT.STATS api"),
  )
  .action(async (name: string, args: string[], options: Connect & { json: boolean }) => {
    const { exec } = await import("./exec.ts");
    process.exitCode = await connected(options, (client) => exec(client, [name, ...args], options.json));
  });

program
  .command("watch")
  .description("show a key's remaining budget in a limiter as a live bar")
  .argument("<name>", "the limiter")
  .argument("<key>", "the key")
  .addOption(url())
  .addOption(token())
  .addOption(password())
  .option("--every <ms>", "milliseconds between looks", integer(20), 250)
  .option("--count <looks>", "stop after so many looks", integer(1))
  .addHelpText("after", examples("tidegate watch uploads user:42"))
  .action(async (name: string, key: string, options: Connect & { every: number; count?: number }) => {
    const { watch } = await import("./watch.ts");
    await connected(options, (client) => watch(client, name, key, options));
  });

const policy = program.command("policy").description("explain, fingerprint and reset policies");
policy
  .command("check")
  .description("check a policy and explain each rule in words")
  .argument("<file>", "JSON: a rule, an array of rules, or { rate, concurrency }; - for standard input")
  .addHelpText(
    "after",
    examples(
      "tidegate policy check provider.json",
      `echo '{"limit": 10, "interval": "1s", "burst": 5}' | tidegate policy check -`,
    ),
  )
  .action(async (file: string) => (await import("./policy.ts")).check(read(file)));
policy
  .command("fingerprint")
  .description("print a policy's fingerprint")
  .argument("<file>", "as for check")
  .action(async (file: string) => (await import("./policy.ts")).fingerprint(read(file)));
policy
  .command("reset")
  .description("forget a namespace's fingerprint, so that a changed policy can start; spent budget stays")
  .argument("<namespace>", "the policy's namespace")
  .addOption(url())
  .addOption(token())
  .addOption(password())
  .action(async (namespace: string, options: Connect) => {
    const { reset } = await import("./policy.ts");
    await connected(options, (client) => reset(client, namespace));
  });

program
  .command("simulate")
  .description("say what a policy would admit of given arrivals")
  .requiredOption("--policy <file>", "JSON, as for policy check")
  .requiredOption("--arrivals <source>", "a file of times (ISO or epoch, one a line), or poisson:RATE per second")
  .option("--for <interval>", "how long poisson arrivals go on", "1m")
  .option("--seed <number>", "seed of the poisson arrivals", integer(0), 1)
  .option("--json", "print every arrival's outcome as JSON lines", false)
  .addHelpText(
    "after",
    examples(
      "tidegate simulate --policy provider.json --arrivals poisson:20 --for 10m",
      "tidegate simulate --policy provider.json --arrivals access-times.txt",
    ),
  )
  .action(async (options) => {
    const { simulateCommand } = await import("./simulate.ts");
    simulateCommand(read(options.policy), options);
  });

program
  .command("bench")
  .description("measure a server: requests a second and latency")
  .argument("[url]", "hotkv://HOST:PORT", "hotkv://127.0.0.1:6379")
  .option("--clients <count>", "connections", integer(1, 1000), 50)
  .option("--pipeline <depth>", "commands in flight on each connection", integer(1, 1000), 1)
  .option("--seconds <seconds>", "how long", integer(1, 600), 5)
  .option("--keys <count>", "different keys", integer(1), 1000)
  .addHelpText("after", examples("tidegate bench hotkv://127.0.0.1:6379 --pipeline 16"))
  .action(async (target: string, options) => (await import("./bench.ts")).bench(target, options));

addCompletion(program);

/** An option's integer from `least` to `most`. */
function integer(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most) {
      throw new InvalidArgumentError(`It must be an integer from ${least} to ${most}.`);
    }
    return value;
  };
}

function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}`;
}

function read(file: string): string {
  return readFileSync(file === "-" ? 0 : file, "utf8");
}

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return (manifest as { readonly version: string }).version;
}

try {
  await program.parseAsync();
} catch (error) {
  console.error(styled("red", `error: ${error instanceof Error ? error.message : String(error)}`, process.stderr));
  process.exitCode = STATUS.error;
}
