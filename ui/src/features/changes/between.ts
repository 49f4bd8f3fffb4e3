/** What lies between the hunks of a change: lines that stayed, read from the file when a person asks for them. */
import type { DiffHunk, DiffLine } from '../../ipc/bindings';

/** So many lines at once, from the hunk upwards. */
const MOST = 500;

/** Gives `count` lines of the file as it is now, from the line `first` on; fewer where it has fewer. */
export type ReadLines = (first: number, count: number) => Promise<readonly string[]>;

/** How many lines are left out before a hunk, of which some may be `shown` again. */
export function skipped(hunks: readonly DiffHunk[], at: number, shown: readonly DiffLine[] = []): number {
  const hunk = hunks[at];
  return hunk ? hunk.new_start - shown.length - firstOf(hunks, at) : 0;
}

/** How many of so many lines come at once. */
export const piece = (left: number): number => Math.min(left, MOST);

const firstOf = (hunks: readonly DiffHunk[], at: number): number => {
  const before = hunks[at - 1];
  return before ? before.new_start + before.new_lines : 1;
};

/**
 * The lines above those that are `shown` before a hunk, and these; `null` where the file is not what the change was made
 * from, so that they would be others.
 */
export async function widened(
  hunks: readonly DiffHunk[],
  at: number,
  shown: readonly DiffLine[],
  read: ReadLines,
): Promise<DiffLine[] | null> {
  const hunk = hunks[at];
  if (!hunk) return null;
  const left = skipped(hunks, at, shown);
  const count = piece(left);
  const first = firstOf(hunks, at) + left - count;
  // The line below comes along: by it one sees that these are the lines above it.
  const below = shown[0] ?? hunk.lines.find((line) => line.new === hunk.new_start);
  const lines = await read(first, count + 1);
  if (lines.length <= count || below === undefined || written(below) !== lines[count]) return null;
  const shift = hunk.new_start - hunk.old_start;
  const made = lines.slice(0, count).map((text, index): DiffLine => ({
    kind: 'context',
    old: first + index - shift,
    new: first + index,
    segments: [{ text, changed: false }],
    no_newline: false,
  }));
  return [...made, ...shown];
}

const written = (line: DiffLine) => line.segments.map(({ text }) => text).join('');
