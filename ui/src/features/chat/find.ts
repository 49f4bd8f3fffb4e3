/** Finding words in the rows of a session. */
import type { Sought } from '../../app/dialog';
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

function values(args: unknown): string {
  if (typeof args === 'string') return args;
  if (typeof args !== 'object' || args === null) return args === undefined ? '' : String(args);
  return Object.values(args).map(values).join('\n');
}

/** Brings a row into sight with its words marked: the first of them, for a row may be longer than the window. */
export function showWords(row: Element | null, words: readonly string[]): void {
  const ranges = markWords(row, words);
  row?.scrollIntoView({ block: 'center' });
  const first = ranges.find((range) => range.getClientRects().length > 0);
  if (first) center(first);
}

/** Marks the words in what is drawn, where the engine can do that without touching the page; from the top. */
export function markWords(place: Element | null, words: readonly string[]): Range[] {
  if (!('highlights' in CSS)) return [];
  const walker = document.createTreeWalker(place ?? document.createElement('i'), NodeFilter.SHOW_TEXT);
  const ranges: Range[] = [];
  while (words.length > 0 && walker.nextNode()) {
    const node = walker.currentNode;
    ranges.push(...placesOf(node.textContent ?? '', words).map((place) => rangeOf(node, place)));
  }
  CSS.highlights.set('found', new Highlight(...ranges));
  return ranges;
}

/** Where words begin and end in a text, in its order. */
function placesOf(text: string, words: readonly string[]): [from: number, to: number][] {
  const small = text.toLowerCase();
  // A few letters have small ones of another length: then no place is what it was.
  if (small.length !== text.length) return [];
  const found: [number, number][] = [];
  for (const word of words) {
    for (let at = small.indexOf(word); at >= 0; at = small.indexOf(word, at + word.length))
      found.push([at, at + word.length]);
  }
  return found.sort(([a], [b]) => a - b);
}

function rangeOf(node: Node, [from, to]: [number, number]): Range {
  const range = new Range();
  range.setStart(node, from);
  range.setEnd(node, to);
  return range;
}

/** Scrolls everything around a range until it stands in the middle. */
function center(range: Range): void {
  for (let around = range.startContainer.parentElement; around; around = around.parentElement) {
    const { overflowX, overflowY } = getComputedStyle(around);
    const [mark, box] = [range.getBoundingClientRect(), around.getBoundingClientRect()];
    if (/auto|scroll/.test(overflowY)) around.scrollTop += (mark.top + mark.bottom - box.top - box.bottom) / 2;
    const isAside = mark.left < box.left || mark.right > box.right;
    if (isAside && /auto|scroll/.test(overflowX))
      around.scrollLeft += (mark.left + mark.right - box.left - box.right) / 2;
  }
}

/** Whether it is the row that was looked for. */
export const isSought = ({ item, call }: Sought, { id, body }: Item): boolean =>
  id === item || (body.kind === 'tool' && call !== undefined && body.call_id === call);
