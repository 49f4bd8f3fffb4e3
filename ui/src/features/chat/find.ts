/** Finding words in the rows of a session. */
import type { Item } from '../../ipc/bindings';
import { say } from '../../shared/problem';

/** Everything a row says, as one text. */
export function textOf({ body }: Item): string {
  switch (body.kind) {
    case 'human':
      return body.text;
    case 'ai':
      return `${body.text}\n${body.reasoning}`;
    case 'tool':
      return `${body.name}\n${values(body.args)}\n${body.output}`;
    case 'notice':
      return body.problem ? say(body.problem) : body.detail;
  }
}

/** The rows with these words, oldest first; upper and lower case are the same. */
export function findRows(items: readonly Item[], typed: string): string[] {
  const wanted = typed.trim().toLowerCase();
  if (!wanted) return [];
  return items.filter((item) => textOf(item).toLowerCase().includes(wanted)).map(({ id }) => id);
}

function values(args: unknown): string {
  if (typeof args === 'string') return args;
  if (typeof args !== 'object' || args === null) return args === undefined ? '' : String(args);
  return Object.values(args).map(values).join('\n');
}

/** Marks the words in what is drawn, where the engine can do that without touching the page. */
export function markWords(place: Element | null, typed: string): void {
  if (!('highlights' in CSS)) return;
  const wanted = typed.trim().toLowerCase();
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(place ?? document.createElement('i'), NodeFilter.SHOW_TEXT);
  while (wanted && walker.nextNode()) {
    const text = walker.currentNode.textContent?.toLowerCase() ?? '';
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      const range = new Range();
      range.setStart(walker.currentNode, at);
      range.setEnd(walker.currentNode, at + wanted.length);
      ranges.push(range);
    }
  }
  CSS.highlights.set('found', new Highlight(...ranges));
}
