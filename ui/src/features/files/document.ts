/** How a text that is written in Markdown is looked at, in this window. */
export type Shown = 'rendered' | 'source';

export const isMarkdown = (name: string): boolean => /\.(md|markdown)$/i.test(name);

const FRONT = /^---[ \t]*\n([\s\S]*?\n)---[ \t]*(?:\n|$)/;

/** A file's text as a document: what stands in front of it, as skills have it, is no heading but set as it is. */
export function documentOf(text: string): string {
  const front = FRONT.exec(text);
  if (!front) return text;
  const inner = front[1] ?? '';
  const longest = Math.max(2, ...[...inner.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}yaml\n${inner}${fence}\n${text.slice(front[0].length)}`;
}
