import { expect, test } from 'vitest';
import { agent } from '../../ipc/recorded/builders';
import { ownAgent } from './ownAgent';

test('only an agent of the person’s own has a name to be shown', () => {
  expect(ownAgent(null)).toBeNull();
  expect(ownAgent({ agents: [agent('s')] })).toBeNull();
  const agents = [agent('r', { name: 'reader', parent: 's' }), agent('s', { name: 'scribe' })];
  expect(ownAgent({ agents })).toBe('scribe');
});
