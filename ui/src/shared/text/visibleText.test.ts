import { describe, expect, it, vi } from 'vitest';
import { hidesSomething, visible, written } from './visibleText';
import { lookalikes } from './lookalikes';

const marks = (text: string) =>
  visible(text).flatMap((segment) => (segment.kind === 'mark' ? [`${segment.label}*${segment.count}`] : []));

const whole = (text: string) =>
  visible(text)
    .map((segment) => (segment.kind === 'text' ? segment.text : segment.source))
    .join('');

describe('visible text', () => {
  it('leaves ordinary commands alone', () => {
    for (const text of [
      'cargo test -p auth',
      'echo "für Łódź" && ls\nmake',
      '为发布说明整理变更记录',
      'def f():\n    return 1',
      '',
    ]) {
      expect(marks(text)).toEqual([]);
      expect(whole(text)).toBe(text);
    }
  });

  it('A02 counts runs of blanks and of line feeds', () => {
    expect(marks(`ls${' '.repeat(2000)}; rm -rf ~`)).toEqual(['SPACE*2000']);
    expect(marks(`ls${'\n'.repeat(500)}rm -rf ~`)).toEqual(['LF*500']);
    expect(written(`ls${' '.repeat(2000)};`)).toBe('ls⟨SPACE ×2000⟩;');
  });

  it('A02 names blanks that are no spaces', () => {
    expect(marks('a\u00a0b\u2003c\u3000d\u3164e\u2800f\u200bg')).toEqual([
      'NBSP*1',
      'U+2003*1',
      'U+3000*1',
      'U+3164*1',
      'U+2800*1',
      'ZWSP*1',
    ]);
  });

  it('A03 shows escape sequences and interprets none', () => {
    expect(marks('\x1b[31mred\x1b[0m \x1b[2K\x1b[1A \x1b]8;;http://x\x07y \x1b]52;c;AAAA\x07 \x9b2J')).toEqual([
      'ESC*1',
      'ESC*1',
      'ESC*1',
      'ESC*1',
      'ESC*1',
      'BEL*1',
      'ESC*1',
      'BEL*1',
      'CSI*1',
    ]);
    expect(written('\x1b[31mred')).toBe('⟨ESC⟩[31mred');
  });

  it('A04 shows what reorders text, in logical order', () => {
    const text = 'rm \u202efdp.exe\u202c \u2066a\u2069 \u200e\u200f\u061c';
    expect(marks(text)).toEqual(['RLO*1', 'PDF*1', 'LRI*1', 'PDI*1', 'LRM*1', 'RLM*1', 'ALM*1']);
    expect(whole(text)).toBe(text);
    for (let code = 0x202a; code <= 0x202e; code++) expect(hidesSomething(String.fromCharCode(code))).toBe(true);
    for (let code = 0x2066; code <= 0x2069; code++) expect(hidesSomething(String.fromCharCode(code))).toBe(true);
  });

  it('A07 shows what overwrites', () => {
    expect(marks('ls #\rrm -rf ~ a\b\bb\vc\fd\te')).toEqual(['CR*1', 'BS*2', 'VT*1', 'FF*1', 'TAB*1']);
  });

  it('names tags, variation selectors, unassigned, private and broken characters', () => {
    expect(marks('a\u{e0041}\ufe01\u{e0101}\ue000\ud800')).toHaveLength(5);
    expect(marks('\u0000\u007f\u0085\u2028\u00ad\ufeff')).toEqual([
      'NUL*1',
      'DEL*1',
      'NEL*1',
      'LSEP*1',
      'SHY*1',
      'BOM*1',
    ]);
  });

  it('lets emoji sequences and accents be, and counts piles of combining marks', () => {
    expect(marks('👩‍💻 ❤️ 👍🏽 é n\u0303 हिन्दी')).toEqual([]);
    expect(marks(`Z${'\u0335'.repeat(40)}algo`)).toEqual(['COMBINING*40']);
  });

  it('keeps the indentation and the tabs of code', () => {
    const code = `\t\tif (x) {\n${' '.repeat(40)}return;`;
    expect(visible(code, 'code')).toEqual([{ kind: 'text', text: code }]);
    expect(visible(`a${'\t'.repeat(9)}b`, 'code')).toHaveLength(3);
  });

  it('gives back every text from its segments', () => {
    const pool = [
      'a',
      ' ',
      '\n',
      '\t',
      '\r',
      '\x1b',
      '\u202e',
      '\u200d',
      '👩',
      '\ufe0f',
      '\u0301',
      '中',
      '\u3000',
      '\ud83d',
    ];
    let seed = 7;
    for (let round = 0; round < 400; round++) {
      let text = '';
      for (let length = 0; length < 40; length++) {
        seed = (seed * 1103515245 + 12345) % 2147483648;
        text += (pool[seed % pool.length] ?? '').repeat(1 + (seed % 23 === 0 ? 20 : 0));
      }
      expect(whole(text)).toBe(text);
      // eslint-disable-next-line no-control-regex -- controls are what must not be left
      expect(written(text)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202a-\u202e\u2066-\u2069]/);
    }
  });

  it('is quick with a very long command', () => {
    const text = `${'echo a\u200b; '.repeat(20_000)}rm -rf ~`;
    expect(whole(text)).toBe(text);
    expect(marks(text)).toHaveLength(20_000);
  });
});

describe('A06 look-alikes', () => {
  const reasons = (text: string) => lookalikes(text).map((suspect) => suspect.reason);

  it('flags letters of another script among Latin ones', () => {
    expect(lookalikes('curl https://gіthub.com/x')).toEqual([
      { word: 'gіthub.com', reason: 'mixed', detail: 'і U+0456' },
    ]);
    expect(reasons('ѕсоре run')).toEqual(['imitates']);
    expect(reasons('ｃurl x')).toEqual(['wide']);
    expect(reasons('Αpache')).toEqual(['mixed']);
  });

  it('shows punycode decoded and raw', () => {
    expect(lookalikes('wget http://xn--80ak6aa92e.com')).toEqual([
      { word: 'xn--80ak6aa92e.com', reason: 'punycode', detail: 'аррӏе.com' },
    ]);
    expect(lookalikes('xn--bcher-kva.example')[0]?.detail).toBe('bücher.example');
    expect(lookalikes('xn--999999999')[0]?.detail).toBe('xn--999999999');
  });

  it('has nothing against other languages', () => {
    expect(reasons('echo привет мир; echo 你好 καλημέρα Müller')).toEqual([]);
  });
});

it('leaves in prose what languages are set with, and marks there what hides or turns text', () => {
  for (const ordinary of [
    '10\u00a0000\u202fkm',
    '你好\u3000世界',
    'می\u200cخواهم',
    'क्\u200dष',
    'Wort\u00adart',
    '👩\u200d💻',
    'a\tb',
  ]) {
    expect(visible(ordinary, 'prose'), ordinary).toEqual([{ kind: 'text', text: ordinary }]);
  }
  for (const hostile of ['safe\u202egpj.exe', 'pay\u200bpal', 'a\u200cb', '\u2066x', 'x\u{e0041}', '\u001b[2J']) {
    expect(
      visible(hostile, 'prose').some(({ kind }) => kind === 'mark'),
      hostile,
    ).toBe(true);
  }
});

it('takes no longer for a long run of one sign than for as many others', () => {
  // Each sign is looked at where it stands, and nothing behind it.
  const looked = vi.spyOn(String.prototype, 'startsWith');
  const sliced = vi.spyOn(String.prototype, 'slice');
  expect(visible('─'.repeat(20_000))).toHaveLength(1);
  const letters = sliced.mock.results.reduce((sum, { value }) => sum + String(value).length, 0);
  const compared = looked.mock.calls.length;
  vi.restoreAllMocks();
  expect(compared + letters).toBeLessThan(5 * 20_000);
});
