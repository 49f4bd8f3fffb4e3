import { expect, test } from 'vitest';
import { en } from '../../shared/i18n/en';
import { Formats } from '../../shared/i18n/formats';
import { cachedShare, costOf } from './total';

const f = new Formats('en');
const total = { calls: 3, input_tokens: 1000, output_tokens: 50, cache_read_tokens: 250, cost: 0.5, unpriced: 0 };

test('a sum says what of it nobody knows', () => {
  expect(costOf(en, f, total)).toBe('$0.50');
  expect(costOf(en, f, { ...total, unpriced: 1 })).toBe('$0.50 and 1 call of unknown price');
  expect(costOf(en, f, { ...total, cost: 0, unpriced: 3 })).toBe('price unknown');
});

test('the share of the cache is a share, or nothing', () => {
  expect(cachedShare(total)).toBe(0.25);
  expect(cachedShare({ ...total, cache_read_tokens: 0 })).toBeNull();
  expect(cachedShare({ ...total, cache_read_tokens: 9000 })).toBe(1);
});
