import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Every page of the documentation, from the repository's root. */
const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "SECURITY.md",
  "pkg/README.md",
  "www/README.md",
  ...["cloudflare-worker", "embedded", "tower"].map((name) => `examples/${name}/README.md`),
  ...["docs", "docs/guide", "docs/guide/moving-in", "docs/decisions"].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => `${folder}/${name}`),
  ),
];

describe("every block of code in the documentation runs as it stands", () => {
  for (const page of pages) {
    const text = readFileSync(join(root, page), "utf8");
    // Blocks build on those before them on the same page, as a reader would type them.
    const blocks = [...text.matchAll(/^```(?:js|ts)\n(.*?)^```$/gms)].map(([, code = ""]) => code);
    if (blocks.length === 0) continue;
    it(page, () => {
      const seen = new Set<string>();
      const parts = blocks.map((code) => {
        const again = [...code.matchAll(/^const (\w+)/gm)].some(([, name = ""]) => seen.has(name));
        for (const [, name = ""] of code.matchAll(/^const (\w+)/gm)) seen.add(name);
        return again ? undefined : code;
      });
      // A page that names the same thing twice means two programs.
      const programs = parts.includes(undefined) ? blocks : [joined(blocks)];
      for (const program of programs) {
        const run = spawnSync(process.execPath, ["--input-type=module-typescript", "-e", program], {
          cwd: root,
          encoding: "utf8",
          timeout: 20_000,
        });
        assert.equal(run.status, 0, `${run.stderr}\n${program}`);
        // What a comment behind a line that prints says is what it prints; a colon may say more.
        const printed = run.stdout.split("\n");
        let at = 0;
        for (const [, said = ""] of program.matchAll(/^ *console\.log\(.*\); \/\/ (.*)$/gm)) {
          at = printed.findIndex((line, index) => index >= at && `${said}: `.startsWith(`${line}: `)) + 1;
          assert.notEqual(at, 0, `${JSON.stringify(said)} is not printed:\n${run.stdout}\n${program}`);
        }
      }
    });
  }
});

describe("every block of TypeScript in the documentation passes the compiler's strictest checks", () => {
  it("as it stands", () => {
    const folder = join(root, "build/docs-blocks");
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const page of pages) {
      const blocks = readFileSync(join(root, page), "utf8").matchAll(/^```ts(?: worker)?\n(.*?)^```$/gms);
      // Each is a program of its own.
      for (const [at, [, code = ""]] of [...blocks].entries()) {
        writeFileSync(join(folder, `${page.replaceAll("/", "_")}-${at + 1}.ts`), code);
      }
    }
    const compilerOptions = { noEmit: true, erasableSyntaxOnly: true, types: ["node"], lib: ["es2024", "dom"] };
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ extends: "../../tsconfig.base.json", compilerOptions, include: ["*.ts"] }),
    );
    const tsc = join(root, "node_modules/.bin/tsc");
    const { status, stdout, error } = spawnSync(tsc, ["--project", folder], { cwd: folder, encoding: "utf8" });
    assert.equal(status, 0, error?.message ?? stdout);
    rmSync(folder, { recursive: true });
  });
});

describe("every example in the package's comments prints what it says", () => {
  // These need a Worker, or a server somewhere.
  const elsewhere = /^(client|workers\/)/;
  const sources = readdirSync(join(root, "pkg/src"), { recursive: true, encoding: "utf8" });
  for (const source of sources.filter((name) => name.endsWith(".ts") && !elsewhere.test(name)).sort()) {
    const text = readFileSync(join(root, "pkg/src", source), "utf8");
    for (const [, block = ""] of text.matchAll(/^ *\* ```ts\n(.*?)^ *\* ```$/gms)) {
      const program = block.replace(/^ *\* ?/gm, "");
      const said = [...program.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, output]) => output);
      it(`${source}: ${program.split("\n").findLast((line) => line.trim() !== "")}`, () => {
        const run = spawnSync(process.execPath, ["--input-type=module-typescript", "-e", program], {
          cwd: root,
          encoding: "utf8",
          timeout: 20_000,
        });
        assert.equal(run.status, 0, `${run.stderr}\n${program}`);
        assert.deepEqual(run.stdout.split("\n").slice(0, -1), said, program);
      });
    }
  }
});

/** Several blocks as one program: imports once, at the top. */
function joined(blocks: readonly string[]): string {
  const imports = new Map<string, Set<string>>();
  const rest = blocks.map((code) =>
    code.replace(/^import \{ ([^}]*) \} from "([^"]+)";$/gm, (_, names: string, from: string) => {
      const known = imports.get(from) ?? new Set();
      imports.set(from, known);
      for (const name of names.split(", ")) known.add(name);
      return "";
    }),
  );
  const lines = [...imports].map(([from, names]) => `import { ${[...names].join(", ")} } from "${from}";`);
  return [...lines, ...rest].join("\n");
}

/** What the headings of a page are linked by: letters and digits in lower case, hyphens for spaces. */
function headings(text: string): readonly string[] {
  const titles = text.replace(/^```.*?^```$/gms, "").matchAll(/^#+ (.*)$/gm);
  return [...titles].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

describe("every link between pages leads somewhere", () => {
  for (const page of pages) {
    it(page, () => {
      const text = readFileSync(join(root, page), "utf8");
      for (const [, target = "", heading] of text.matchAll(/\]\(([^)#\s]*)(?:#([^)\s]*))?\)/g)) {
        if (/^https?:/.test(target)) continue;
        const file = target === "" ? join(root, page) : join(root, dirname(page), target);
        assert.ok(existsSync(file), `${page} links to ${target}`);
        if (heading === undefined || !file.endsWith(".md")) continue;
        assert.ok(headings(readFileSync(file, "utf8")).includes(heading), `${page} links to ${target}#${heading}`);
      }
    });
  }
});
