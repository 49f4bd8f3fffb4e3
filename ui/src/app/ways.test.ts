import { expect, it } from 'vitest';
import type { Problem } from '../ipc/bindings';
import { problems } from '../shared/i18n/en/problems';
import { wayOf, WAYS } from './ways';

it('has every kind of problem exactly once', () => {
  const listed: string[] = Object.values(WAYS).flatMap((kinds) => [...kinds]);
  expect(listed.sort()).toEqual(Object.keys(problems).sort());
});

it('goes the way of what is within a problem that has none of its own', () => {
  const locked: Problem = { problem: 'keyring_is_locked' };
  const way = (problem: Problem) => wayOf(problem).way;
  expect(wayOf({ problem: 'summary_failed', why: { problem: 'key_left', why: locked } })).toEqual({
    way: 'models',
    of: locked,
  });
  // Its own comes first.
  expect(way({ problem: 'key_locked', provider: 'p', why: { problem: 'disk_full' } })).toBe('provider');
  expect(way({ problem: 'nothing_taken_back', why: [{ problem: 'disk_full' }] })).toBe('none');
  expect(way({ problem: 'said', detail: 'no such model' })).toBe('none');
});
