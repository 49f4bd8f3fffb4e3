import { describe, expect, it } from 'vitest';
import { en } from './en';
import { Formats } from './formats';
import { localeOf } from './i18n.svelte';
import { parts } from './phrase';
import { zh } from './zh';

/** Every text of a dictionary by its path; functions are called with numbers and with texts. */
function texts(node: unknown, path = ''): [string, string][] {
  if (typeof node === 'string') return [[path, node]];
  if (typeof node === 'function') {
    const call = node as (...args: unknown[]) => string;
    const sample = (value: unknown) => String(call(value, value));
    return [
      [`${path}(1)`, sample(1)],
      [`${path}(2)`, sample(2)],
    ];
  }
  return Object.entries(node as object).flatMap(([key, value]) => texts(value, path ? `${path}.${key}` : key));
}

const ENGLISH = texts(en);
const CHINESE = new Map(texts(zh));

/** What is rightly the same in both languages. */
const SAME =
  /languages\.|\.json$|baseUrl|bosun|markTitle|\.en$|abilities\.documents|media\.document$|modelPrices\.priceOf|imageOf|problems\.said|providers\.formats\.(?!auto)|app\.between|app\.stop|closing\.means/i;

describe('dictionaries', () => {
  it('have the same entries in every language, none of them empty', () => {
    expect([...CHINESE.keys()]).toEqual(ENGLISH.map(([path]) => path));
    for (const [path, text] of [...ENGLISH, ...CHINESE]) expect(text.trim(), path).not.toBe('');
  });

  it('are translated', () => {
    const left = ENGLISH.filter(([path, text]) => CHINESE.get(path) === text && !SAME.test(path)).map(([path]) => path);
    const foreign = [...CHINESE].filter(([path, text]) => !/\p{Script=Han}/u.test(text) && !SAME.test(path));
    expect(left).toEqual([]);
    expect(foreign.map(([path]) => path)).toEqual([]);
  });

  it('have the same places in their phrases', () => {
    const slots = (text: string | undefined) =>
      parts(text ?? '').flatMap((part) => ('slot' in part ? [part.slot] : []));
    for (const [path, text] of ENGLISH.filter(([path]) => /^(tools|problems)\./.test(path))) {
      expect(slots(CHINESE.get(path)).sort(), path).toEqual(slots(text).sort());
    }
  });
});

describe('formats', () => {
  const english = new Formats('en');
  const chinese = new Formats('zh-CN');

  it('count with the plural of the language', () => {
    expect([0, 1, 2, 1200].map((count) => english.count(count, 'file', 'files'))).toEqual([
      '0 files',
      '1 file',
      '2 files',
      '1,200 files',
    ]);
  });

  it('tell time as people do', () => {
    expect([4, 8200, 14_000, 372_000, 3_900_000].map((ms) => english.duration(ms))).toEqual([
      '4 ms',
      '8.2 s',
      '14 s',
      '6 m 12 s',
      '1 h 5 m',
    ]);
    expect([45_000, 120_000, 150_000, 3_600_000, 3_900_000, 0].map((ms) => english.limit(ms))).toEqual([
      '45 s',
      '2 min',
      '2 min 30 s',
      '1 h',
      '1 h 5 min',
      '0 s',
    ]);
    expect(chinese.limit(120_000)).toBe('2 分钟');
    expect(chinese.duration(372_000)).toBe('6 分 12 秒');
    expect([42_000, 372_000, 3_849_000].map((ms) => english.clock(ms))).toEqual(['0:42', '6:12', '1:04:09']);
    const now = new Date(2026, 10, 20, 12).getTime();
    expect(english.relative(now - 30 * 3_600_000, now)).toBe('yesterday');
    expect(chinese.day(now - 30 * 3_600_000, now)).toBe('昨天');
    expect(english.day(now, now)).toBe('Today');
  });

  it('show money without hiding small sums', () => {
    expect([0, 0.38, 0.0042, 12.5].map((cost) => english.cost(cost))).toEqual(['$0.00', '$0.38', '$0.0042', '$12.50']);
  });
});

describe('the system’s language', () => {
  it('leads to the nearest of ours', () => {
    expect(['zh-Hans-CN', 'zh_TW', 'zh', 'en-GB', 'de', ''].map(localeOf)).toEqual([
      'zh-CN',
      'zh-CN',
      'zh-CN',
      'en',
      'en',
      'en',
    ]);
  });
});
