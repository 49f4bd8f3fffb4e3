import { expect, it } from 'vitest';
import { near, type Block } from './near';

const SIZES = { head: 20, line: 40 };
const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, at) => from + at);
const one = (count: number): Block<number>[] => [{ key: 'a', lines: numbers(count) }];
const days = (count: number, each: number): Block<number>[] =>
  numbers(count).map((nth) => ({ key: `d${nth}`, lines: numbers(each, nth * each) }));
type Found = ReturnType<typeof near<number, Block<number>>>;
const none: (line: number) => boolean = () => false;
const lines = (found: Found) => found.blocks.flatMap((block) => block.lines);
/** Everything that is drawn, and the room left for the rest. */
const height = (found: Found) =>
  found.rest +
  found.blocks.reduce(
    (sum, { gap, lines, rest }) =>
      sum + gap + SIZES.head + rest + lines.reduce((all, line) => all + line.gap + SIZES.line, 0),
    0,
  );

it('draws all of a short list, without room for more', () => {
  const found = near(days(3, 2), SIZES, { from: 0, to: 900 }, none);
  expect(lines(found).map(({ line }) => line)).toEqual([0, 1, 2, 3, 4, 5]);
  expect([lines(found).every(({ gap }) => gap === 0), found.rest]).toEqual([true, 0]);
});

it.each([
  ['one day', one(20_000)],
  ['many days', days(1000, 20)],
])('draws no more of a long list than is near, and leaves room for the rest: %s', (_, blocks) => {
  const whole = blocks.length * SIZES.head + 20_000 * SIZES.line;
  for (const from of [-500, 0, 41, 399_990, whole - 900]) {
    const found = near(blocks, SIZES, { from, to: from + 900 }, none);
    expect(lines(found).length).toBeLessThan(28);
    expect(height(found)).toBe(whole);
    expect(lines(found).map(({ line }) => line)).toEqual(expect.arrayContaining([0, 19_999]));
  }
});

it('draws what is kept where it is, with the lines that the keys go to from there', () => {
  const blocks = days(1000, 20);
  const drawn = (kept: number) =>
    lines(near(blocks, SIZES, { from: 0, to: 100 }, (line) => line === kept)).map(({ line }) => line);
  expect(drawn(9_010)).toEqual(expect.arrayContaining([9_009, 9_010, 9_011]));
  expect(drawn(9_019)).toEqual(expect.arrayContaining([9_018, 9_019, 9_020]));
  expect(drawn(9_020)).toEqual(expect.arrayContaining([9_019, 9_020, 9_021]));
});

it('is content with no lines', () => {
  expect(near([], SIZES, { from: 0, to: 900 }, none)).toEqual({ blocks: [], rest: 0 });
});
