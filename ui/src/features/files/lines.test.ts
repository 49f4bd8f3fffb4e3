import { expect, it } from 'vitest';
import type { TextRow } from '../../ipc/bindings';
import { spansByRow, textOf } from './lines';

const row = (line: number, text: string, part = 0): TextRow => ({ line, part, text });

it('cuts spans at line ends and between the parts of a line, and keeps empty lines', () => {
  const rows = [row(1, 'a'), row(2, ''), row(3, 'bcd'), row(3, 'e', 1), row(4, 'f')];
  expect(textOf(rows)).toBe('a\n\nbcde\nf');
  const spans = [
    { text: 'a\n\nb', colour: 'kw' },
    { text: 'cde\nf', colour: '' },
  ];
  expect(spansByRow(spans, rows)).toEqual([
    [{ text: 'a', colour: 'kw' }],
    [],
    [
      { text: 'b', colour: 'kw' },
      { text: 'cd', colour: '' },
    ],
    [{ text: 'e', colour: '' }],
    [{ text: 'f', colour: '' }],
  ]);
});
