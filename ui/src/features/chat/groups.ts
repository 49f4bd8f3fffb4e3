/** Items as they are drawn: messages and notices by themselves, calls (with the thoughts between them) as one fold. */
import type { Item, ToolItem } from '../../ipc/bindings';

export type Group =
  | { kind: 'single'; key: string; item: Item }
  | { kind: 'fold'; key: string; rows: Item[]; /** Nothing in it goes on and something follows it. */ isOver: boolean };

type Body<K extends Item['body']['kind']> = Extract<Item['body'], { kind: K }>;

export const toolOf = (item: Item): (Body<'tool'> & ToolItem) | null => (item.body.kind === 'tool' ? item.body : null);

export function groups(items: readonly Item[]): Group[] {
  const out: Group[] = [];
  for (const item of items) {
    if (isEmpty(item)) continue;
    const last = out.at(-1);
    if (!isRow(item)) {
      if (last?.kind === 'fold') last.isOver = last.rows.every((row) => isSettled(row));
      out.push({ kind: 'single', key: item.id, item });
    } else if (last?.kind === 'fold') {
      last.rows.push(item);
    } else {
      out.push({ kind: 'fold', key: item.id, rows: [item], isOver: false });
    }
  }
  return out;
}

/** Groups that stay the same objects as long as they show the same, so that a row which grows is all that is drawn again. */
export class GroupKeeper {
  private known = new Map<string, Group>();

  read(items: readonly Item[]): Group[] {
    const made = groups(items).map((group) => {
      const before = this.known.get(group.key);
      return before && isSame(before, group) ? before : group;
    });
    this.known = new Map(made.map((group) => [group.key, group]));
    return made;
  }
}

function isSame(a: Group, b: Group): boolean {
  if (a.kind === 'single') return b.kind === 'single' && a.item === b.item;
  if (b.kind === 'single' || a.isOver !== b.isOver || a.rows.length !== b.rows.length) return false;
  return a.rows.every((row, at) => row === b.rows[at]);
}

/** Rows that stay in sight when their fold is closed. */
export function needsEyes(item: Item): boolean {
  const state = toolOf(item)?.state;
  return state === 'failed' || state === 'unknown' || state === 'waiting' || state === 'running';
}

/** From the first start to the last end, in milliseconds; `null` where nothing ran. */
export function span(rows: readonly Item[]): number | null {
  const tools = rows.map(toolOf);
  const starts = tools.flatMap((tool) => tool?.started_at ?? []);
  const ends = tools.flatMap((tool) => tool?.ended_at ?? []);
  return starts.length > 0 && ends.length > 0 ? Math.max(...ends) - Math.min(...starts) : null;
}

/** A call, or a thought without words after it. */
function isRow({ body }: Item): boolean {
  return body.kind === 'tool' || (body.kind === 'ai' && isBlank(body.text) && body.reasoning !== '');
}

function isEmpty({ body }: Item): boolean {
  return body.kind === 'ai' && isBlank(body.text) && body.reasoning === '';
}

/** What is longer says something. To read a text that grows is to put all of it together, for each frame anew. */
const BRIEF = 1024;

const isBlank = (text: string) => text.length <= BRIEF && text.trim() === '';

function isSettled(item: Item): boolean {
  const state = toolOf(item)?.state;
  return state !== 'proposed' && state !== 'waiting' && state !== 'running';
}
