import { describe, expect, it } from 'vitest';
import { diff } from '../../ipc/recorded/builders';
import { splitRows } from './split';

const written = (text: string) =>
  splitRows(diff('/a', '', 1, text).hunks[0]?.lines ?? []).map((row) =>
    [row.old, row.new].map((line) => line?.segments.map((segment) => segment.text).join('') ?? null),
  );

describe('two columns', () => {
  it('put removed lines beside the added ones that replace them', () => {
    expect(written(' a\n-b\n-c\n+B\n d')).toEqual([
      ['a', 'a'],
      ['b', 'B'],
      ['c', null],
      ['d', 'd'],
    ]);
  });

  it('keep runs apart that follow each other', () => {
    expect(written('+x\n-y\n+z')).toEqual([
      [null, 'x'],
      ['y', 'z'],
    ]);
    expect(written('-y\n+z\n+w')).toEqual([
      ['y', 'z'],
      [null, 'w'],
    ]);
  });
});
