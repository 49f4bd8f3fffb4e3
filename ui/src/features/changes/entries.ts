import type { ChangedFile, ChangeKind, FileChange, FileDiff, Snapshot } from '../../ipc/bindings';

export interface Entry {
  key: string;
  path: string;
  kind: ChangeKind | 'pending';
  added: number;
  removed: number;
  /** The change that waits for a decision. */
  pending: FileDiff | null;
  /** What the session did to it, the same object until it does more. */
  change: FileChange | null;
}

/** Files with changes that wait for a decision, then those that were changed; what is back as it was is left out. */
export function entries({ approvals, changes }: Pick<Snapshot, 'approvals' | 'changes'>): Entry[] {
  const pending = approvals.flatMap((approval): Entry[] => {
    if (approval.preview.preview !== 'diff') return [];
    const { diff } = approval.preview;
    const { path, added, removed } = diff;
    return [
      {
        key: `pending ${approval.session} ${approval.call_id}`,
        path,
        kind: 'pending',
        added,
        removed,
        pending: diff,
        change: null,
      },
    ];
  });
  const done = changes
    .filter(({ change, added, removed }) => change !== 'changed' || added + removed > 0)
    .map((one): Entry => ({
      key: one.path,
      path: one.path,
      kind: one.change,
      added: one.added,
      removed: one.removed,
      pending: null,
      change: one,
    }));
  return [...pending, ...done];
}

/** A row of the list of changes: what waits for a decision, or what was changed and is looked through. */
export interface Listed {
  key: string;
  path: string;
  added: number;
  removed: number;
  pending: FileDiff | null;
  file: ChangedFile | null;
}

/** What waits for a decision, then the changed files of the scope. */
export function listed(snapshot: Snapshot, files: readonly ChangedFile[]): Listed[] {
  const waiting = entries(snapshot)
    .filter(({ pending }) => pending !== null)
    .map(({ key, path, added, removed, pending }): Listed => ({ key, path, added, removed, pending, file: null }));
  const done = files.map((file): Listed => {
    const { path, added, removed } = file;
    return { key: path, path, added, removed, pending: null, file };
  });
  return [...waiting, ...done];
}
