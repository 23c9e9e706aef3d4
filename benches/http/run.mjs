// npm run bench:http: what rate limiting costs a request. Real servers under autocannon on loopback, in one run: every subject takes its
// turn in each round, the first of which only warms up. Prints medians, and the least and the most. `-- Fastify Hono` measures those alone.

import { fork } from "node:child_process";
import { once } from "node:events";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import autocannon from "autocannon";
import { subjects } from "./subjects.mjs";

const ROUNDS = Number(process.env.ROUNDS ?? 7);
const SECONDS = Number(process.env.SECONDS ?? 2);
const CONNECTIONS = 16;
const program = fileURLToPath(new URL("./subjects.mjs", import.meta.url));

const chosen = process.argv.slice(2);
const servers = [];
for (const [framework, limiters] of Object.entries(subjects)) {
  if (chosen.length > 0 && !chosen.includes(framework)) continue;
  for (const limiter of Object.keys(limiters)) {
    const child = fork(program, [framework, limiter]);
    const [{ port }] = await once(child, "message");
    const url = `http://127.0.0.1:${port}`;
    const { status, headers } = await fetch(url);
    const limited = [...headers.keys()].some((name) => name.startsWith("ratelimit"));
    if (status !== 200 || limited !== (limiter !== "none"))
      throw new Error(`${framework}, ${limiter}: not as it should be`);
    servers.push({ framework, limiter, child, url, rates: [], costs: [] });
  }
}

async function cpu(child) {
  child.send("cpu");
  const [{ cpu }] = await once(child, "message");
  return cpu;
}

for (let round = 0; round <= ROUNDS; round++) {
  process.stderr.write(`round ${round} of ${ROUNDS}\n`);
  // Every other round the other way round, so that nobody always follows the same one.
  for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
    const before = await cpu(server.child);
    const { requests, non2xx, errors, duration } = await autocannon({
      url: server.url,
      connections: CONNECTIONS,
      duration: SECONDS,
    });
    if (non2xx + errors > 0)
      throw new Error(`${server.framework}, ${server.limiter}: ${non2xx} refused, ${errors} errors`);
    if (round === 0) continue;
    server.rates.push(requests.total / duration);
    server.costs.push(((await cpu(server.child)) - before) / requests.total);
  }
}
for (const { child } of servers) child.kill();

const sorted = (values) => [...values].sort((a, b) => a - b);
const median = (values) => sorted(values)[Math.floor(values.length / 2)];
const spread = (values, digits) => {
  const [least, most] = [sorted(values)[0], sorted(values).at(-1)].map((value) => value.toFixed(digits));
  return `${least}-${most}`;
};

console.log(
  `Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}, ${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s\n`,
);
console.log("| framework | limiter | requests a second | spread | CPU a request, µs | spread | over none, µs |");
console.log("|---|---|---|---|---|---|---|");
for (const { framework, limiter, rates, costs } of servers) {
  const bare = servers.find((other) => other.framework === framework && other.limiter === "none");
  // The difference within a round, so that what the machine does beside takes no part.
  const over = limiter === "none" ? "" : median(costs.map((cost, round) => cost - bare.costs[round])).toFixed(1);
  const row = [
    framework,
    limiter,
    median(rates).toFixed(0),
    spread(rates, 0),
    median(costs).toFixed(1),
    spread(costs, 1),
    over,
  ];
  console.log(`| ${row.join(" | ")} |`);
}
