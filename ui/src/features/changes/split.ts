/** A hunk as two columns: what stood there and what stands there now, side by side. */
import type { DiffLine } from '../../ipc/bindings';

export interface SplitRow {
  old: DiffLine | null;
  new: DiffLine | null;
}

/** Lines that stayed are in both columns; a run of removed lines faces the run of added lines after it. */
export function splitRows(lines: readonly DiffLine[]): SplitRow[] {
  const rows: SplitRow[] = [];
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  const flush = () => {
    const count = Math.max(removed.length, added.length);
    for (let at = 0; at < count; at++) rows.push({ old: removed[at] ?? null, new: added[at] ?? null });
    removed = [];
    added = [];
  };
  for (const line of lines) {
    if (line.kind === 'removed') {
      if (added.length > 0) flush();
      removed.push(line);
    } else if (line.kind === 'added') {
      added.push(line);
    } else {
      flush();
      rows.push({ old: line, new: line });
    }
  }
  flush();
  return rows;
}
