/** The folders that are open, as the rows that are drawn. Pure: what was read comes in, rows come out. */
import type { FileEntry, FolderView, FoundFiles } from '../../ipc/bindings';
import { displayPath } from '../chat/toolWords';

export interface Row {
  key: string;
  depth: number;
  entry: FileEntry | null;
  isOpen: boolean;
  /** What a row without an entry says. */
  note: 'loading' | 'empty' | 'more' | 'partly' | null;
  more: number;
  /** The folder it is in, where the rows above do not say it. */
  where: string | null;
}

export type Listings = ReadonlyMap<string, FolderView>;

/** The rows of the tree below `/`, folders that are open followed by what is in them. */
export function rowsOf(listings: Listings, open: ReadonlySet<string>): Row[] {
  const rows: Row[] = [];
  const note = (path: string, depth: number, what: Row['note'], more = 0) =>
    rows.push({ key: `${path} ${what}`, depth, entry: null, isOpen: false, note: what, more, where: null });
  const below = (path: string, depth: number) => {
    const folder = listings.get(path);
    if (!folder) return void note(path, depth, 'loading');
    if (folder.entries.length === 0) return void note(path, depth, 'empty');
    for (const entry of folder.entries) {
      const isOpen = entry.is_folder && open.has(entry.path);
      rows.push({ key: entry.path, depth, entry, isOpen, note: null, more: 0, where: null });
      if (isOpen) below(entry.path, depth + 1);
    }
    if (folder.more > 0) note(path, depth, 'more', folder.more);
  };
  below('/', 0);
  return rows;
}

/** What was found, with where it is. */
export function rowsOfFound({ entries, more, partial }: FoundFiles): Row[] {
  const blank = { depth: 0, isOpen: false, more };
  const rows = entries.map((entry): Row => ({
    ...blank,
    key: entry.path,
    entry,
    note: null,
    where: displayPath(entry.path).slice(0, -entry.name.length - 1),
  }));
  const note = (what: Row['note']) => rows.push({ ...blank, key: ` ${what}`, entry: null, note: what, where: null });
  if (more > 0) note('more');
  if (partial) note('partly');
  return rows;
}

/** The folder that a path is in; `/` for what is at the top. */
export function parentOf(path: string): string {
  const at = path.lastIndexOf('/');
  return at <= 0 ? '/' : path.slice(0, at);
}

export type Step = 'down' | 'up' | 'first' | 'last' | 'in' | 'out';

/** Where a key leads from the row at hand, and what it does to the folder there. */
export function step(rows: readonly Row[], at: number, key: Step): { at: number; toggles: boolean } {
  const row = rows[at];
  const stay = { at, toggles: false };
  const near = (from: number, by: number) => {
    for (let next = from; next >= 0 && next < rows.length; next += by) if (rows[next]?.entry) return next;
    return at;
  };
  switch (key) {
    case 'down':
      return { at: near(at + 1, 1), toggles: false };
    case 'up':
      return { at: near(at - 1, -1), toggles: false };
    case 'first':
      return { at: near(0, 1), toggles: false };
    case 'last':
      return { at: near(rows.length - 1, -1), toggles: false };
    case 'in':
      if (!row?.entry?.is_folder) return stay;
      return row.isOpen ? { at: near(at + 1, 1), toggles: false } : { at, toggles: true };
    case 'out': {
      if (!row?.entry) return stay;
      if (row.isOpen) return { at, toggles: true };
      const parent = parentOf(row.entry.path);
      const above = rows.findIndex((one) => one.entry?.path === parent);
      return above < 0 ? stay : { at: above, toggles: false };
    }
  }
}
