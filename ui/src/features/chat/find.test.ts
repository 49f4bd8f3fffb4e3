import { describe, expect, it } from 'vitest';
import { ai, human, tool } from '../../ipc/recorded/builders';
import { findRows } from './find';

describe('finding in a session', () => {
  const said = human('Where is the Timer armed?');
  const called = tool('grep', { pattern: 'arm', where: ['src', { deep: 'TIMER_MS' }] }, { output: 'nothing' });
  const answered = ai('In refresh.rs.', 'The timer is armed once.');

  it('looks into words, thoughts, arguments and results, whatever their case', () => {
    expect(findRows([said, called, answered], 'timer')).toEqual([said.id, called.id, answered.id]);
    expect(findRows([said, called, answered], 'NOTHING')).toEqual([called.id]);
  });

  it('finds nothing where nothing is asked', () => {
    expect(findRows([said], '  ')).toEqual([]);
  });
});
