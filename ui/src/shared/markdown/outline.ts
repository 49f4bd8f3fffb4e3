import type { Block } from './blocks';

/** The level at which a message's headings begin: the session's title is the one above. */
const FIRST = 2;
const LAST = 6;

/**
 * The level of each heading block, by its id. Messages begin at any depth and leave levels out; a reader of headings
 * should not be told of levels that are not there.
 */
export function outline(blocks: readonly Block[]): Map<number, number> {
  const levels = new Map<number, number>();
  const open: number[] = [];
  for (const { id, token } of blocks) {
    if (token.type !== 'heading') continue;
    const depth = Number(token.depth);
    while ((open.at(-1) ?? 0) >= depth) open.pop();
    levels.set(id, Math.min(LAST, FIRST + open.length));
    open.push(depth);
  }
  return levels;
}
