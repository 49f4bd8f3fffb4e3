/** What lies between the hunks of a change: lines that stayed, read from the file when a person asks for them. */
import type { DiffHunk, DiffLine } from '../../ipc/bindings';

/** So many lines at once, from the hunk on. */
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
  return [...unchanged(lines.slice(0, count), first, hunk.new_start - hunk.old_start), ...shown];
}

/** How many lines are left out after the last hunk of a file that has `total`, of which some may be `shown` again. */
export function skippedBelow(hunks: readonly DiffHunk[], total: number, shown: readonly DiffLine[] = []): number {
  return hunks.length > 0 ? Math.max(0, total + 1 - firstOf(hunks, hunks.length) - shown.length) : 0;
}

/** As `widened`, with the lines below those that are `shown` after the last hunk. */
export async function widenedBelow(
  hunks: readonly DiffHunk[],
  total: number,
  shown: readonly DiffLine[],
  read: ReadLines,
): Promise<DiffLine[] | null> {
  const hunk = hunks.at(-1);
  const above = shown.at(-1) ?? hunk?.lines.findLast((line) => line.new !== null);
  if (!hunk || above === undefined) return null;
  const count = piece(skippedBelow(hunks, total, shown));
  const first = firstOf(hunks, hunks.length) + shown.length;
  const [known, ...lines] = await read(first - 1, count + 1);
  if (lines.length < count || written(above) !== known) return null;
  const shift = hunk.new_start + hunk.new_lines - hunk.old_start - hunk.old_lines;
  return [...shown, ...unchanged(lines, first, shift)];
}

const unchanged = (lines: readonly string[], first: number, shift: number): DiffLine[] =>
  lines.map((text, index) => ({
    kind: 'context',
    old: first + index - shift,
    new: first + index,
    segments: [{ text, changed: false }],
    no_newline: false,
  }));

const written = (line: DiffLine) => line.segments.map(({ text }) => text).join('');
