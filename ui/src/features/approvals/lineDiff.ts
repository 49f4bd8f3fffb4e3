/** A small line diff for what a person changed in a call's arguments. What is on disk is compared by the core. */
import type { DiffLine, FileDiff } from '../../ipc/bindings';

/** Above this many line pairs the middle is shown as wholly replaced. */
const MOST_PAIRS = 1_000_000;

export function textDiff(path: string, before: string, after: string): FileDiff {
  const old = split(before);
  const young = split(after);
  let head = 0;
  while (head < old.length && head < young.length && old[head] === young[head]) head++;
  let tail = 0;
  while (tail < old.length - head && tail < young.length - head && old.at(-1 - tail) === young.at(-1 - tail)) tail++;
  const kinds = middle(old.slice(head, old.length - tail), young.slice(head, young.length - tail));
  const lines = number(
    [
      ...old.slice(Math.max(0, head - 3), head).map((text) => ({ kind: 'context' as const, text })),
      ...kinds,
      ...old
        .slice(old.length - tail, Math.min(old.length, old.length - tail + 3))
        .map((text) => ({ kind: 'context' as const, text })),
    ],
    Math.max(0, head - 3),
  );
  const count = (kind: DiffLine['kind']) => lines.filter((line) => line.kind === kind).length;
  const added = count('added');
  const removed = count('removed');
  const hunk = {
    old_start: Math.max(1, head - 2),
    old_lines: lines.length - added,
    new_start: Math.max(1, head - 2),
    new_lines: lines.length - removed,
    heading: '',
    lines,
  };
  return {
    path,
    added,
    removed,
    hunks: added + removed > 0 ? [hunk] : [],
    binary: false,
    truncated: false,
    created: false,
    deleted: false,
  };
}

interface Bare {
  kind: DiffLine['kind'];
  text: string;
}

const split = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** The longest common subsequence, walked once. */
function middle(old: string[], young: string[]): Bare[] {
  const removed = (texts: string[]): Bare[] => texts.map((text) => ({ kind: 'removed', text }));
  const added = (texts: string[]): Bare[] => texts.map((text) => ({ kind: 'added', text }));
  if (old.length * young.length > MOST_PAIRS) return [...removed(old), ...added(young)];
  const width = young.length + 1;
  const longest = new Uint32Array((old.length + 1) * width);
  const at = (i: number, j: number) => longest[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = young.length - 1; j >= 0; j--) {
      longest[i * width + j] = old[i] === young[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const out: Bare[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length && j < young.length) {
    if (old[i] === young[j]) {
      out.push({ kind: 'context', text: old[i++] ?? '' });
      j++;
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      out.push({ kind: 'removed', text: old[i++] ?? '' });
    } else {
      out.push({ kind: 'added', text: young[j++] ?? '' });
    }
  }
  return [...out, ...removed(old.slice(i)), ...added(young.slice(j))];
}

function number(lines: Bare[], before: number): DiffLine[] {
  let old = before;
  let young = before;
  return lines.map(({ kind, text }) => ({
    kind,
    old: kind === 'added' ? null : ++old,
    new: kind === 'removed' ? null : ++young,
    segments: [{ text, changed: false }],
    no_newline: false,
  }));
}
