import { describe, expect, it } from 'vitest';
import type { FileEntry, FolderView } from '../../ipc/bindings';
import { parentOf, rowsOf, step } from './tree';

const entry = (path: string, is_folder = false): FileEntry => ({
  path,
  name: path.split('/').at(-1) ?? '',
  is_folder,
  size: is_folder ? null : 1,
  modified_at: null,
  mount: null,
  on_disk: true,
});
const folder = (path: string, entries: FileEntry[], more = 0): FolderView => ({ path, entries, more });
const listings = new Map([
  ['/', folder('/', [entry('/src', true), entry('/void', true), entry('/a.txt')], 2)],
  ['/src', folder('/src', [entry('/src/deep', true), entry('/src/b.rs')])],
  ['/void', folder('/void', [])],
]);

describe('the tree of files', () => {
  it('has the rows of open folders below them, and says what is loading, empty or left out', () => {
    const rows = rowsOf(listings, new Set(['/src', '/src/deep', '/void', '/a.txt']));
    const shown = rows.map((row) => `${' '.repeat(row.depth)}${row.entry?.name ?? row.note}`);
    expect(shown).toEqual(['src', ' deep', '  loading', ' b.rs', 'void', ' empty', 'a.txt', 'more']);
    expect(new Set(rows.map((row) => row.key)).size).toBe(rows.length);
    expect(rowsOf(new Map(), new Set()).map((row) => row.note)).toEqual(['loading']);
  });

  it('is walked by keys, over rows that only say something', () => {
    const rows = rowsOf(listings, new Set(['/src', '/void']));
    const name = (at: number) => rows[at]?.entry?.name;
    const at = (wanted: string) => rows.findIndex((row) => row.entry?.name === wanted);
    expect(name(step(rows, at('void'), 'down').at)).toBe('a.txt');
    expect(name(step(rows, at('a.txt'), 'up').at)).toBe('void');
    expect(step(rows, at('a.txt'), 'down').at).toBe(at('a.txt'));
    expect(step(rows, at('deep'), 'in')).toEqual({ at: at('deep'), toggles: true });
    expect(name(step(rows, at('src'), 'in').at)).toBe('deep');
    expect(step(rows, at('src'), 'out')).toEqual({ at: at('src'), toggles: true });
    expect(name(step(rows, at('b.rs'), 'out').at)).toBe('src');
    expect(step(rows, at('a.txt'), 'out')).toEqual({ at: at('a.txt'), toggles: false });
    expect([step(rows, 3, 'first').at, name(step(rows, 0, 'last').at)]).toEqual([0, 'a.txt']);
  });

  it('knows the folder of a path', () => {
    expect([parentOf('/a'), parentOf('/a/b/c'), parentOf('/')]).toEqual(['/', '/a/b', '/']);
  });
});
