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

export const keyOf = (item: TrustItem): string => `${item.kind}:${item.files[0]?.path ?? item.name}`;
