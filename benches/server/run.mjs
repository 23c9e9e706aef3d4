// npm run bench:server: requests a second beside Redis with a GCRA script in Lua, by redis-benchmark, in one run: rounds take
// turns, and medians are compared.

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROUNDS = 5;
const CLIENTS = 50;
const REQUESTS = { 1: 100_000, 16: 400_000 };
const main = fileURLToPath(new URL("../../pkg/dist/cli/main.js", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "tidegate-bench-"));

/** GCRA as people write it for Redis: one float, one key, the server's clock. */
const LUA = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local period, burst, count = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local spacing = period / burst
local tat = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
local after = tat + spacing * count
if after - now > period then
  return {1, burst, math.floor((period - (tat - now)) / spacing), math.ceil(after - period - now), math.ceil(tat - now)}
end
redis.call('SET', KEYS[1], string.format('%.6f', after), 'PX', math.ceil(after - now))
return {0, burst, math.floor((period - (after - now)) / spacing), -1, math.ceil(after - now)}`;

const servers = [
  { name: "tidegate, memory", port: 7501, start: () => tidegate(7501), ask: ours },
  { name: "redis + lua, memory", port: 7502, start: () => redis(7502, "--appendonly", "no"), ask: theirs },
  { name: "tidegate, file", port: 7503, start: () => tidegate(7503, "--data", join(scratch, "limits.db")), ask: ours },
  {
    name: "redis + lua, appendfsync everysec",
    port: 7504,
    start: () => redis(7504, "--appendonly", "yes", "--appendfsync", "everysec", "--dir", scratch),
    ask: theirs,
  },
];

function tidegate(port, ...args) {
  return spawn(process.execPath, [main, "serve", "--port", String(port), ...args], { stdio: "ignore" });
}

function redis(port, ...args) {
  return spawn("redis-server", ["--port", String(port), "--save", "", ...args], { stdio: "ignore" });
}

function ours() {
  return ["GCRA.LIMIT", "bench:__rand_int__", "60000", "1000000"];
}

function theirs(port) {
  const loaded = spawnSync("redis-cli", ["-p", String(port), "SCRIPT", "LOAD", LUA], { encoding: "utf8" });
  return ["EVALSHA", loaded.stdout.trim(), "1", "bench:__rand_int__", "60000", "1000000", "1"];
}

/** Requests a second of one run. */
function measure(port, pipeline, command) {
  const options = ["-p", String(port), "-c", String(CLIENTS), "-P", String(pipeline), "-n", String(REQUESTS[pipeline])];
  const run = spawnSync("redis-benchmark", [...options, "-r", "10000", "--csv", ...command], { encoding: "utf8" });
  const line = run.stdout.trim().split("\n").at(-1) ?? "";
  return Number(line.split('","')[1]?.replaceAll('"', ""));
}

async function listening(port) {
  for (let attempt = 0; attempt < 100; attempt++) {
    const open = await new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true));
      socket.on("error", () => resolve(false));
      socket.on("connect", () => socket.destroy());
    });
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nothing listens on ${port}`);
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

const running = servers.map(({ start }) => start());
try {
  await Promise.all(servers.map(({ port }) => listening(port)));
  const asks = servers.map(({ port, ask }) => ask(port));
  for (const pipeline of [1, 16]) {
    const rates = servers.map(() => []);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [at, { port }] of servers.entries()) rates[at].push(measure(port, pipeline, asks[at]));
    }
    console.log(`\n${CLIENTS} connections, pipeline ${pipeline}, 10,000 keys, ${ROUNDS} rounds: requests a second`);
    for (const [at, { name }] of servers.entries()) {
      const [least, most] = [Math.min(...rates[at]), Math.max(...rates[at])].map(Math.round);
      console.log(
        `${name.padEnd(36)}${Math.round(median(rates[at])).toLocaleString("en-US").padStart(10)}   (${least} to ${most})`,
      );
    }
    console.log(
      `ratio in memory ${(median(rates[0]) / median(rates[1])).toFixed(2)}, kept ${(median(rates[2]) / median(rates[3])).toFixed(2)}`,
    );
  }
} finally {
  for (const child of running) child.kill();
  rmSync(scratch, { recursive: true, force: true });
}
