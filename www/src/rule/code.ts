import { type Call, callsFor, gcraPeriod, type PolicyRule, policyRule } from "./calls.ts";
import type { Rule } from "./rule.ts";
import { duration } from "./words.ts";

/** The lane's rules as a TypeScript program. */
export function typescript(rules: readonly Rule[]): string {
  const [only] = rules;
  if (rules.length > 1 || only === undefined || (only.algorithm === "gcra" && gcraPeriod(only) === undefined)) {
    return policyProgram(rules);
  }
  return only.algorithm === "gcra" ? gcraProgram(only) : limiterProgram(only);
}

/** The lane's rules as commands, one a line, as `redis-cli` takes them. */
export function commands(rules: readonly Rule[], fingerprint: string): string {
  const { setUp, check } = callsFor(rules, "api");
  return [...setUp, check(1, fingerprint)].map(line).join("\n");
}

function gcraProgram(rule: Rule): string {
  return `import { HotKV } from "tidegate";

const client = new HotKV();

// ${spacingNote(rule)}
const result = await client.gcraLimit("api:user:42", ${gcraPeriod(rule)}, ${rule.burst});
if (result.denied) {
  console.log(\`slow down, retry in \${result.retryAfterMs} ms\`);
}
`;
}

function spacingNote({ limit, interval, burst }: Rule): string {
  const spacing = interval % limit === 0 ? duration(interval / limit) : `${interval}/${limit} ms`;
  return burst === 1 ? `One unit every ${spacing}.` : `${burst} units at once, then one every ${spacing}.`;
}

function limiterProgram({ algorithm, limit, interval, rate }: Rule): string {
  const options: string[] = algorithm === "sliding-window" ? [] : [`algo: "${algorithm.replace("-", "_")}"`];
  if (algorithm === "token-bucket" && rate !== "") options.push(`refill: "${rate}"`);
  if (algorithm === "leaky-bucket" && rate !== "") options.push(`drain: "${rate}"`);
  const last = options.length > 0 ? `, { ${options.join(", ")} }` : "";
  return `import { HotKV } from "tidegate";

const client = new HotKV();

await client.rateLimitCreate("api", ${limit}, ${interval}${last});

const check = await client.rateLimitCheck("api", "user:42");
if (!check.allowed) {
  console.log(\`slow down, retry in \${check.retryAfterMs} ms\`);
}
`;
}

function policyProgram(rules: readonly Rule[]): string {
  const spelled = rules.map(policyRule).map((spelling) => `    ${literal(spelling)},\n`);
  return `import { HotKV, Valve } from "tidegate";

const valve = new Valve({
  store: new HotKV(),
  namespace: "api",
  rate: [
${spelled.join("")}  ],
});

// Waits its turn; all rules are spent in one atomic step, or none.
await valve.run(async () => {
  console.log("called the provider");
});
`;
}

function literal(rule: PolicyRule): string {
  const fields = Object.entries(rule).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `{ ${fields.join(", ")} }`;
}

function line(call: Call): string {
  return call.map((part) => (/^[\w.:-]+$/.test(String(part)) ? part : `'${part}'`)).join(" ");
}
