import { expect, it } from 'vitest';
import { spansByLine } from './lines';

it('cuts spans at line ends and keeps empty lines', () => {
  const spans = [
    { text: 'a\n\nb', colour: 'kw' },
    { text: 'c\n', colour: '' },
  ];
  expect(spansByLine(spans)).toEqual([
    [{ text: 'a', colour: 'kw' }],
    [],
    [
      { text: 'b', colour: 'kw' },
      { text: 'c', colour: '' },
    ],
    [],
  ]);
});
