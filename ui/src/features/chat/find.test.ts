import { describe, expect, it } from 'vitest';
import type { Item } from '../../ipc/bindings';
import { ai, human, tool } from '../../ipc/recorded/builders';
import { hasWords, wordsOf } from '../../shared/text/words';
import { textOf } from './find';

describe('finding in a session', () => {
  const said = human('Where is the Timer armed?');
  const called = tool('grep', { pattern: 'arm', where: ['src', { deep: 'TIMER_MS' }] }, { output: 'nothing' });
  const answered = ai('In refresh.rs.', 'The timer is armed once.');
  const found = (typed: string) =>
    [said, called, answered].filter((item: Item) => hasWords(textOf(item), wordsOf(typed))).map(({ id }) => id);

  it('looks into words, thoughts, arguments and results, whatever their case', () => {
    expect(found('timer')).toEqual([said.id, called.id, answered.id]);
    expect(found('NOTHING')).toEqual([called.id]);
  });

  it('wants all the words, in any order and begun only; in quotes they stay together', () => {
    expect(found('arm time')).toEqual([said.id, called.id, answered.id]);
    expect(found('once timer')).toEqual([answered.id]);
    expect(found('"timer armed"')).toEqual([said.id]);
    expect(found('“is armed” once')).toEqual([answered.id]);
    expect(found('timer twice')).toEqual([]);
  });

  it('takes a phrase that is begun for one, and quotes inside of words for themselves', () => {
    expect(wordsOf('Token "is sl')).toEqual(['token', 'is sl']);
    expect(wordsOf('say("Hi") "name": "x"')).toEqual(['say("hi")', '"name":', 'x']);
    expect(wordsOf('  ')).toEqual([]);
  });
});
