/** What the recorded host answers about files: those of the session, and what was changed in them. */
import { score } from '../../shared/text/rank';
import type {
  ChangedFile,
  ChangeScope,
  FileEntry,
  FileReview,
  FolderView,
  FoundFiles,
  MountKind,
  PreviewBody,
  ReviewState,
  Snapshot,
  TextPlace,
} from '../bindings';
import type { UiClient } from '../client';
import { later, type Act } from '../recorded';
import { LOADER, LOADER_TEXT } from './fixtures';
import { refuse, type Host } from './host';
import { DIFFS } from './mock';

type Files = Pick<
  UiClient,
  | 'changedFiles'
  | 'fileReview'
  | 'undoHunk'
  | 'keepHunk'
  | 'keepChanges'
  | 'reopenChange'
  | 'redoUndone'
  | 'restoreVersion'
  | 'changedImage'
  | 'listFolder'
  | 'previewFile'
  | 'findFiles'
  | 'lookAnew'
  | 'fileText'
  | 'saveFile'
  | 'openFile'
  | 'revealFile'
  | 'watchFolders'
>;

/** A picture of 8 by 8 pixels. */
const DOT =
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAYAAADED76LAAAAHklEQVR42mP4z8DwnxBmIMGkUQWjCkYVjCoYVUAMAwDvfP8BEVn4KwAAAABJRU5ErkJggg==';
const LOGO = '/docs/logo.png';
const COMMAND = 'cargo xtask changelog --unreleased';

const RUST = `//! The session's own clock.
use std::time::SystemTime;

pub trait Clock: Send + Sync {
    fn now(&self) -> SystemTime;
}

pub struct System;

impl Clock for System {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}
`;

const MOUNTED = /^\/(conversation_history|large_tool_results|memories|skills)\b/;
/** One line, as a server of tools answers. */
const ANSWER = JSON.stringify(
  Array.from({ length: 6_000 }, (_, at) => ({ id: at, title: `Issue ${at}`, state: at % 3 === 0 ? 'open' : 'closed' })),
);
const STYLE = `# How this project is written

- Small commits; the crate stands **first** in the message.
- Time comes through a \`Clock\`: see \`src/auth/clock.rs\`.

| What | Where |
| --- | --- |
| Clocks | \`src/auth\` |
| Fixtures | \`tests\` |
`;

const disk = (path: string, size: number | null): FileEntry => ({
  path,
  name: path.split('/').at(-1) ?? '',
  is_folder: size === null,
  size,
  modified_at: null,
  mount: null,
  on_disk: !MOUNTED.test(path),
});
const mounted = (path: string, kind: MountKind, read_only = false): FileEntry => ({
  ...disk(path, null),
  mount: { kind, read_only },
});
const log = (at: number) => `test auth::case_${at} ... ok`;

const FOLDERS: Record<string, FileEntry[]> = {
  '/': [
    mounted('/conversation_history', 'history'),
    disk('/docs', null),
    mounted('/large_tool_results', 'results'),
    mounted('/memories', 'memory'),
    mounted('/skills', 'skill'),
    disk('/src', null),
    disk('/Cargo.toml', 412),
    disk('/CHANGELOG.md', 2048),
    disk('/harbour.db', 81_920),
  ],
  '/docs': [disk(LOGO, 1_204), disk('/docs/spec.pdf', 482_113)],
  '/src': [disk('/src/auth', null), disk('/src/lib.rs', 918)],
  '/src/auth': [disk('/src/auth/clock.rs', RUST.length), disk('/src/auth/session.rs', 7_210)],
  '/large_tool_results': [
    disk('/large_tool_results/answer', ANSWER.length),
    disk('/large_tool_results/call-7', 412_000),
  ],
  '/memories': [disk('/memories/style.md', STYLE.length)],
  '/skills': [mounted('/skills/user', 'skill'), mounted('/skills/home', 'skill', true)],
};

const ENTRIES = Object.values(FOLDERS).flat();

function textAt(path: string): string {
  if (path === LOADER.path) return LOADER_TEXT;
  if (path.endsWith('/answer')) return ANSWER;
  if (path.endsWith('.md')) return STYLE;
  if (path.startsWith('/large_tool_results/')) return Array.from({ length: 9_000 }, (_, at) => log(at + 1)).join('\n');
  return RUST;
}

/** As the host cuts a text into rows, 2,000 at once. */
function pageOf(text: string, from: TextPlace): PreviewBody {
  const lines = text.replace(/\n$/, '').split('\n');
  const all = lines.flatMap((line, at) => {
    const count = Math.max(1, Math.ceil(line.length / 1_000));
    return Array.from({ length: count }, (_, part) => ({
      line: at + 1,
      part,
      text: line.slice(part * 1_000, (part + 1) * 1_000),
    }));
  });
  const first = all.findIndex(({ line, part }) => line === from.line && part === from.part);
  const [rows, next] = [all.slice(first, first + 2_000), all[first + 2_000]];
  const place = next ? { line: next.line, part: next.part } : null;
  return { kind: 'text', rows, total: lines.length, next: place, cut: false };
}

export function files(host: Host, act: Act): Files {
  const states = new Map<string, ReviewState>();
  const reviews = (session: string): ChangedFile[] => changed(host.snapshot(session), states, restored);
  const set = (path: string, state: ReviewState) => void states.set(path, state);
  /** Files of which the session's version is there again. */
  const restored = new Set<string>();

  return {
    changedFiles: (session, scope) =>
      later(() => {
        const list = inScope(reviews(session), scope);
        const undone = list.filter(({ state }) => state === 'undone').map(({ path }) => path);
        const isMock = list.some(({ path }) => path === '/CHANGELOG.md');
        return {
          files: list,
          unkept: isMock ? [{ path: '/harbour.db', before: 5_242_880, after: 5_308_416, command: COMMAND }] : [],
          unkept_more: 0,
          uncompared: null,
          undone: [
            ...[...restored].map((path) => ({ seq: 41, at: 0, paths: [path], what: 'own_edits' as const })),
            ...(undone.length > 0 ? [{ seq: 40, at: 0, paths: undone, what: 'changes' as const }] : []),
          ],
        };
      }),
    fileReview: (session, path) =>
      later((): FileReview => {
        refuse(host.world);
        const file = reviews(session).find((one) => one.path === path);
        const diff = DIFFS[path] ?? {
          path,
          added: file?.added ?? 0,
          removed: file?.removed ?? 0,
          hunks: [],
          binary: path === LOGO,
          truncated: false,
          created: false,
          deleted: false,
        };
        const side = (hash: string) => (path === LOGO ? { size: 1_204, hash, image: 'image/png' } : null);
        const since = file?.edited_since ? { ...diff, added: 1, removed: 1 } : null;
        return {
          path,
          version: 'a-b',
          diff,
          lines: path === LOADER.path ? LOADER_TEXT.split('\n').length - 1 : 0,
          since,
          before: side('9f2c41d07be3'),
          after: side('41d09f2c7be3'),
          command: file?.command ?? null,
          rights: null,
        };
      }),
    undoHunk: async (_session, path, scope, version, hunk) => {
      await act('undoHunk', { path, scope, version, hunk }, () => set(path, 'undone'));
      return { path, change: 'changed', added: 0, removed: 1, problem: null };
    },
    keepHunk: (_session, path, version, hunk) => act('keepHunk', { path, version, hunk }, () => set(path, 'kept')),
    keepChanges: async (session, path, scope) => {
      const meant = inScope(reviews(session), scope).filter((one) => path === null || one.path === path);
      const problem = (one: ChangedFile) => (scope === 'session' ? [] : (host.world.problems?.[one.path] ?? []));
      await act('keepChanges', { path, scope }, () => {
        for (const one of meant) if (problem(one) instanceof Array) set(one.path, 'kept');
      });
      return meant.flatMap(problem);
    },
    reopenChange: (_session, path, scope) => act('reopenChange', { path, scope }, () => set(path, 'pending')),
    redoUndone: async (session, seq) => {
      await act('redoUndone', seq);
      if (seq === 41) {
        restored.clear();
        return [];
      }
      for (const { path, state } of reviews(session)) if (state === 'undone') set(path, 'pending');
      return [];
    },
    restoreVersion: async (_session, path) => {
      await act('restoreVersion', path, () => restored.add(path));
      return { path, change: 'changed', added: 1, removed: 1, problem: null };
    },
    changedImage: () => later(() => `data:image/png;base64,${DOT}`),
    listFolder: (_session, path) =>
      later((): FolderView => ({ path, entries: FOLDERS[path] ?? [], more: path === '/large_tool_results' ? 12 : 0 })),
    previewFile: (_session, path, from) =>
      later(() => {
        refuse(host.world);
        const size = ENTRIES.find((entry) => entry.path === path)?.size;
        const kind = FOLDERS['/']?.find((entry) => path.startsWith(`${entry.path}/`))?.mount?.kind ?? 'project';
        const mount = { kind, read_only: false };
        const rest = { path, size: size ?? null, mount, on_disk: kind === 'project' };
        if (path === LOGO) return { ...rest, body: { kind: 'image', mime: 'image/png', data: DOT } };
        if (path.endsWith('.pdf')) return { ...rest, body: { kind: 'pdf' } };
        if (path.endsWith('.db')) return { ...rest, body: { kind: 'binary' } };
        return { ...rest, body: pageOf(textAt(path), from) };
      }),
    findFiles: (_session, text) =>
      later((): FoundFiles => {
        refuse(host.world);
        const fit = ENTRIES.flatMap((entry) => {
          const found = score(text, entry.path.slice(1));
          return found === null ? [] : [{ entry: { ...entry, size: null }, found }];
        });
        const entries = fit.sort((a, b) => b.found - a.found).map(({ entry }) => entry);
        return { entries, more: 0, partial: false };
      }),
    lookAnew: () => act('lookAnew', null),
    fileText: (_session, path) =>
      later(() => {
        if (path.endsWith('call-7'))
          throw {
            code: 'invalid',
            message: '',
            problem: { problem: 'too_large_to_copy', name: 'call-7', megabytes: 4 },
          };
        return textAt(path);
      }),
    saveFile: async (_session, path) => {
      await act('saveFile', path);
      return `/home/ada/${path.split('/').at(-1)}`;
    },
    openFile: (_session, path) => act('openFile', path),
    revealFile: (_session, path) => act('revealFile', path),
    watchFolders: () => later(() => ({ first: null, close: () => undefined })),
  };
}

/** The first file was changed before the last turn, and only the last one with the last step. */
export function inScope<T>(list: T[], scope: ChangeScope): T[] {
  return scope === 'session' ? list : list.slice(scope === 'turn' ? 1 : -1);
}

/** What the snapshot tells of files, with what a person made of it; the file that a command changed was edited since. */
function changed(
  { changes }: Snapshot,
  states: ReadonlyMap<string, ReviewState>,
  restored: ReadonlySet<string>,
): ChangedFile[] {
  return changes
    .filter(({ change, added, removed }) => change !== 'changed' || added + removed > 0)
    .map(({ path, change, added, removed }): ChangedFile => {
      const isCommands = path === '/CHANGELOG.md';
      return {
        path,
        change,
        added,
        removed,
        state: states.get(path) ?? 'pending',
        command: isCommands ? COMMAND : null,
        edited_since: isCommands && !restored.has(path),
        lost: false,
      };
    });
}
