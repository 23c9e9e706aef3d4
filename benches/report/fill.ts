// Blocks in a document: `<!-- NAME -->` up to `<!-- / -->` is made from results, the rest is written by people.

/** The document with every block made anew. */
export function fill(text: string, blocks: Readonly<Record<string, () => string>>): string {
  const left = new Set(Object.keys(blocks));
  const filled = text.replaceAll(/<!-- (\w+) -->\n[\s\S]*?<!-- \/ -->/g, (_, name: string) => {
    const block = blocks[name];
    if (block === undefined) throw new Error(`the document has a block ${name} that nothing makes`);
    left.delete(name);
    return `<!-- ${name} -->\n${block()}\n<!-- / -->`;
  });
  if (left.size > 0) throw new Error(`the document has no block for ${[...left].join(", ")}`);
  return filled;
}
