import { expect, it, vi } from 'vitest';
import { diff } from '../../ipc/recorded/builders';
import { skipped, widened } from './between';

it('shows what is long in pieces, from the hunk upwards', async () => {
  const { hunks } = diff('/a', '', 1201, ' line 1201\n+line 1202');
  const read = vi.fn(async (first: number, count: number) =>
    Array.from({ length: count }, (_, at) => `line ${first + at}`),
  );
  const one = (await widened(hunks, 0, [], read)) ?? [];
  const two = (await widened(hunks, 0, one, read)) ?? [];
  const all = (await widened(hunks, 0, two, read)) ?? [];
  expect(read.mock.calls).toEqual([
    [701, 501],
    [201, 501],
    [1, 201],
  ]);
  expect([one, two, all].map((shown) => skipped(hunks, 0, shown))).toEqual([700, 200, 0]);
  expect(all.map((line) => line.new)).toEqual(Array.from({ length: 1200 }, (_, at) => at + 1));
});
