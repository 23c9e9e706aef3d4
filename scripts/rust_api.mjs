// What the crate promises: every public item, read out of rustdoc's pages, since rustdoc's JSON needs a nightly toolchain.
// The list is kept in docs/reference/rust-api.txt, so that a change of it is seen, and meant.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run.mjs";
import { green, red } from "./terminal.mjs";

const KEPT = join(root, "docs/reference/rust-api.txt");
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: " ", "#39": "'" };

/** Every public item of the crate documented in `folder`, a line each: declarations, methods, implemented traits. */
function publicItems(folder) {
  const read = (page) => readFileSync(join(folder, page), "utf8");
  const pages = [...read("all.html").matchAll(/<li><a href="([^"#]+)">([^<]+)<\/a>/g)];
  return pages.flatMap(([, page, name]) => {
    // What std implements for every type is no promise of this crate.
    const [html] = read(page).split('<h2 id="synthetic-implementations"');
    const [declaration] = html.matchAll(/<pre class="rust item-decl"><code>(.*?)<\/code><\/pre>/gs);
    const methods = html.split('id="trait-implementations-list"')[0];
    const traits = matches(html, /<section id="impl-[^"]*-for-[^"]*"[^>]*>.*?<h3 class="code-header">(.*?)<\/h3>/gs)
      .map((implementation) => implementation.replace(/^impl(<[^ ]*>)? (.*) for .*$/, "$2"))
      .filter((trait) => trait !== "StructuralPartialEq");
    return [
      text(declaration[1]),
      ...matches(
        methods,
        /<section id="(?:method|associatedconstant)\.[^"]*"[^>]*>.*?<h4 class="code-header">(.*?)<\/h4>/gs,
      ),
      ...(traits.length > 0 ? [`implements ${traits.join(", ")}`] : []),
    ].map((item) => `${name}: ${item}`);
  });
}

function matches(html, pattern) {
  return [...html.matchAll(pattern)].map(([, found]) => text(found)).sort();
}

/** HTML as one line of text. */
function text(html) {
  return html
    .replace(/<summary.*?<\/summary>/gs, "")
    .replace(/<[^>]*>/g, "")
    .replace(/&(#?\w+);/g, (whole, name) => ENTITIES[name] ?? whole)
    .replace(/\s+/g, " ")
    .trim();
}

/** Whether the crate documented in `folder` is as it is kept; with `accept`, keeps it as it is. */
export function holdsRustApi(folder, accept) {
  const now = publicItems(folder);
  if (accept) writeFileSync(KEPT, `${now.join("\n")}\n`);
  const kept = readFileSync(KEPT, "utf8").trimEnd().split("\n");
  const gone = kept.filter((item) => !now.includes(item));
  const come = now.filter((item) => !kept.includes(item));
  for (const item of gone) console.error(red(`- ${item}`));
  for (const item of come) console.error(green(`+ ${item}`));
  if (gone.length + come.length === 0) return true;
  console.error(
    "The crate's public items changed. If that is meant, say so in CHANGELOG.md and run: npm run docs -- accept",
  );
  return false;
}
