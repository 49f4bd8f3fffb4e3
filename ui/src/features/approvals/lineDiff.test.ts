import { describe, expect, it } from 'vitest';
import { textDiff } from './lineDiff';

const drawn = (before: string, after: string) =>
  textDiff('x', before, after).hunks.flatMap((hunk) =>
    hunk.lines.map((line) => {
      const sign = { context: ' ', added: '+', removed: '-' }[line.kind];
      return `${line.old ?? '_'},${line.new ?? '_'}${sign}${line.segments.map((segment) => segment.text).join('')}`;
    }),
  );

describe('the diff of edited arguments', () => {
  it('shows what changed with a little around it', () => {
    expect(drawn('a\nb\nc\nd\ne\nf', 'a\nb\nc\nd\nE\nf')).toEqual([
      '2,2 b',
      '3,3 c',
      '4,4 d',
      '5,_-e',
      '_,5+E',
      '6,6 f',
    ]);
    expect(drawn('a\nx\nb\ny\nc', 'a\nb\nz\nc')).toEqual(['1,1 a', '2,_-x', '3,2 b', '4,_-y', '_,3+z', '5,4 c']);
  });

  it('has no hunk where nothing changed, and copes with nothing at all', () => {
    expect(textDiff('x', 'same', 'same').hunks).toEqual([]);
    expect(drawn('', 'new')).toEqual(['_,1+new']);
    expect(textDiff('x', 'a\nb', '')).toMatchObject({ added: 0, removed: 2 });
  });

  it('gives up finely on what is too long, never slowly', () => {
    const long = (word: string) => Array.from({ length: 3000 }, (_, at) => `${word}${at}`).join('\n');
    expect(textDiff('x', long('a'), long('b'))).toMatchObject({ added: 3000, removed: 3000 });
  });
});
