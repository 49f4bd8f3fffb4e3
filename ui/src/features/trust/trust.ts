import type { ProjectTrust, SeenFile, TrustItem, TrustKind, TrustState } from '../../ipc/bindings';

export const KINDS: readonly TrustKind[] = ['instructions', 'skill', 'subagent', 'config'];

export const waits = (item: TrustItem): boolean => item.state === 'new' || item.state === 'changed';

/** How many of each kind are in such a state. */
export function counts(trust: ProjectTrust, state: TrustState): [TrustKind, number][] {
  return KINDS.map((kind): [TrustKind, number] => [
    kind,
    trust.items.filter((item) => item.kind === kind && item.state === state).length,
  ]).filter(([, count]) => count > 0);
}

/** The contents that a decision about these things is about. */
export const seen = (items: readonly TrustItem[]): SeenFile[] =>
  items.flatMap((item) => item.files.map(({ path, hash }) => ({ path, hash })));

/** In the order in which they are shown. */
export const ordered = (items: readonly TrustItem[]): TrustItem[] =>
  KINDS.flatMap((kind) => items.filter((item) => item.kind === kind));

/** One thing with the content that it has: with another content it is to be looked at again. */
export const contentOf = (item: TrustItem): string => [keyOf(item), ...item.files.map(({ hash }) => hash)].join(' ');

/** The one that is to be looked at: the one at hand, else one below it, else one from the top. */
export function nextUnseen(items: readonly TrustItem[], from: TrustItem | null, looked: ReadonlySet<string>) {
  const at = Math.max(0, from === null ? 0 : items.indexOf(from));
  const inTurn = [...items.slice(at), ...items.slice(0, at)];
  return inTurn.find((item) => waits(item) && !looked.has(contentOf(item))) ?? null;
}

export const keyOf = (item: TrustItem): string => `${item.kind}:${item.files[0]?.path ?? item.name}`;
