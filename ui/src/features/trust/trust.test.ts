import { expect, test } from 'vitest';
import type { ProjectTrust, TrustItem } from '../../ipc/bindings';
import { counts, seen, waits } from './trust';

const item = (change: Partial<TrustItem>): TrustItem => ({
  kind: 'skill',
  name: 'pdf',
  state: 'new',
  files: [{ path: '/.bosun/skills/pdf/SKILL.md', state: 'new', hash: 'a', size: 1 }],
  effects: [],
  problem: null,
  ...change,
});

test('what waits is counted by kind, in the order in which it is shown', () => {
  const trust: ProjectTrust = {
    items: [item({}), item({ name: 'notes' }), item({ kind: 'instructions' }), item({ state: 'trusted' })],
    undecided: 3,
  };
  expect(counts(trust, 'new')).toEqual([
    ['instructions', 1],
    ['skill', 2],
  ]);
  expect(counts(trust, 'changed')).toEqual([]);
});

test('a decision names every file with the content that was seen', () => {
  const files = [
    { path: '/a', state: 'new' as const, hash: 'x', size: 1 },
    { path: '/b', state: 'changed' as const, hash: 'y', size: 2 },
  ];
  expect(seen([item({ files }), item({})])).toEqual([
    { path: '/a', hash: 'x' },
    { path: '/b', hash: 'y' },
    { path: '/.bosun/skills/pdf/SKILL.md', hash: 'a' },
  ]);
  expect([item({}), item({ state: 'changed' }), item({ state: 'set_aside' })].map(waits)).toEqual([true, true, false]);
});
