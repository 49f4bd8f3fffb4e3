import { Lexer } from 'marked';
import { describe, expect, it, vi } from 'vitest';
import { BlockReader } from './blocks';
import { CodeParts } from './parts';

const LENGTH = 80_000;
const fill = (line: (at: number) => string) => {
  let text = '';
  for (let at = 0; text.length < LENGTH; at++) text += line(at);
  return text;
};
const ENDLESS = {
  paragraph: fill((at) => `word ${at} has **two bold words** in it, `),
  chinese: fill((at) => `第${at}句话在这里，没有空格。`),
  list: fill((at) => `${at + 1}. the module has **one** more\n`),
  code: fill((at) => (at === 0 ? '```rust\n' : `let halyard_${at} = rig(${at});\n`)),
  table: fill((at) => (at === 0 ? '| a | b |\n|---|---|\n' : `| ${at} | words |\n`)),
  quote: fill((at) => `> line ${at} of what was said\n`),
};
const STEP = 500;

/** How many characters each reading of the growing text looked at. */
function readings(text: string): { reader: BlockReader; lexed: number[] } {
  const reader = new BlockReader();
  const lex = vi.spyOn(Lexer.prototype, 'lex');
  const lexed: number[] = [];
  for (let end = STEP; end <= text.length; end += STEP) {
    reader.read(text.slice(0, end), false);
    lexed.push(lex.mock.calls.reduce((sum, [piece]) => sum + piece.length, 0));
    lex.mockClear();
  }
  lex.mockRestore();
  return { reader, lexed };
}

const rawOf = (reader: BlockReader) => reader.blocks.map(({ token }) => token.raw).join('');

describe('a block without an end', () => {
  it.each(['paragraph', 'chinese', 'list'] as const)('costs no more with its length: %s', (kind) => {
    const { reader, lexed } = readings(ENDLESS[kind]);
    expect(Math.max(...lexed)).toBeLessThan(40_000);
    expect(new Set(reader.blocks.map(({ token }) => token.type)).size).toBe(1);
    expect(reader.blocks.map(({ isRest }) => isRest)).toEqual(reader.blocks.map((_, at) => at > 0));
    expect(ENDLESS[kind].startsWith(rawOf(reader).slice(0, -STEP))).toBe(true);
  });

  it('is not read again at all where it is code', () => {
    const { reader, lexed } = readings(ENDLESS.code);
    expect(lexed.reduce((sum, one) => sum + one, 0)).toBeLessThan(20_000);
    const [block] = reader.blocks;
    const end = ENDLESS.code.length - (ENDLESS.code.length % STEP);
    const [token] = Lexer.lex(ENDLESS.code.slice(0, end));
    expect(token).toMatchObject({ type: 'code', text: block?.token && 'text' in block.token && block.token.text });
    expect(block?.token).toMatchObject({ raw: ENDLESS.code.slice(0, end), lang: 'rust' });
  });

  it.each(['table', 'quote'] as const)('is read seldom where it cannot be parted: %s', (kind) => {
    const { reader, lexed } = readings(ENDLESS[kind]);
    expect(lexed.reduce((sum, one) => sum + one, 0)).toBeLessThan(LENGTH * 45);
    expect(rawOf(reader).length).toBeGreaterThan(LENGTH * 0.85);
    reader.read(ENDLESS[kind], true);
    expect(rawOf(reader)).toBe(ENDLESS[kind]);
  });

  it('is parted between words, outside of marks, and in the same places however it came', () => {
    for (const kind of ['paragraph', 'chinese', 'list'] as const) {
      const { reader } = readings(ENDLESS[kind]);
      const parts = reader.read(ENDLESS[kind], true).map(({ token }) => token.raw);
      const whole = new BlockReader().read(ENDLESS[kind], true).map(({ token }) => token.raw);
      expect(parts).toEqual(whole);
      expect(parts.join('')).toBe(ENDLESS[kind]);
    }
    const blocks = new BlockReader().read(ENDLESS.paragraph, true);
    for (const { token } of blocks.slice(0, -1)) expect(token.raw).toMatch(/^(?:[^*]|\*\*[^*]+\*\*)+ $/);
    const numbers = new BlockReader().read(ENDLESS.list, true).map(({ token }) => 'start' in token && token.start);
    expect(numbers.length).toBeGreaterThan(8);
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it.each([
    ['bold words', '**', '**', 'strong'],
    ['a link', '[', '](https://example.org)', 'link'],
  ])('is never parted within %s, whatever stands in them', (_, opening, ending, type) => {
    const marked = `${opening}${'these *words* go on '.repeat(60)}and end${ending}`;
    // The cut would fall into it wherever it begins.
    const text = `${'plain words come first, '.repeat(320)}${marked} ${'and then more of them, '.repeat(600)}`;
    const blocks = new BlockReader().read(text, true);
    expect(blocks.length).toBeGreaterThan(2);
    expect(blocks.map(({ token }) => token.raw).join('')).toBe(text);
    const inner = blocks.flatMap(({ token }) => ('tokens' in token && token.tokens ? token.tokens : []));
    expect(inner.filter((token) => token.type === type).map(({ raw }) => raw)).toEqual([marked]);
  });

  it('is whole where a mark was opened early, and shown as what it is once that is shut', () => {
    const text = `It is **important ${'and goes on with *many* words '.repeat(600)}to here** and ends.`;
    const reader = new BlockReader();
    for (let end = STEP; end < text.length; end += STEP) reader.read(text.slice(0, end), false);
    const [block, ...others] = reader.read(text, true);
    expect([others.length, block?.token.raw]).toEqual([0, text]);
    expect(block?.token && 'tokens' in block.token && block.token.tokens?.map(({ type }) => type)).toEqual([
      'text',
      'strong',
      'text',
    ]);
  });

  it('counts on where every entry of a list is called the first', () => {
    const text = fill(() => '1. the module has **one** more\n');
    const reader = new BlockReader();
    for (let end = 0; end < text.length; end += 20 * STEP) reader.read(text.slice(0, end), false);
    let number = 1;
    for (const { token } of reader.read(text, true)) {
      if (token.type !== 'list') throw new Error(token.type);
      expect(token.start).toBe(number);
      number += token.items.length;
    }
    expect(reader.blocks.length).toBeGreaterThan(8);
    expect(number - 1).toBe(text.split('\n').length - 1);
  });

  it('does not hold up what comes after it', () => {
    const text = `# Heading\n${ENDLESS.code}\`\`\`\nThese words follow, and ${ENDLESS.paragraph}`;
    const { reader, lexed } = readings(text);
    expect(
      reader
        .read(text, true)
        .map(({ token }) => token.raw)
        .join(''),
    ).toBe(text);
    expect(reader.blocks.slice(0, 3).map(({ token }) => token.type)).toEqual(['heading', 'code', 'paragraph']);
    expect(Math.max(...lexed.slice(-40))).toBeLessThan(40_000);
  });

  it('is code until its own fence is shut', () => {
    const inner = '~~~\n```js\n    ```\n~~~~ \nnot `code` any more';
    const reader = new BlockReader();
    const text = `~~~text\n${ENDLESS.quote}${inner}`;
    for (let end = LENGTH; end < text.length; end++) reader.read(text.slice(0, end), false);
    const blocks = reader.read(text, true);
    expect(blocks.map(({ token }) => token.type)).toEqual(Lexer.lex(text).map(({ type }) => type));
  });
});

/** How many letters of growing code were looked through each time more of it came. */
function looked(code: string, step = 20): number[] {
  const seen = vi.spyOn(String.prototype, 'replaceAll');
  const parts = new CodeParts();
  const all: number[] = [];
  for (let end = step; end < code.length; end += step) {
    parts.read(code.slice(0, end));
    all.push(seen.mock.contexts.reduce<number>((sum, one) => sum + String(one).length, 0));
    seen.mockClear();
  }
  seen.mockRestore();
  return all;
}

describe('parts of code', () => {
  it('stay as they are while more is added, and are all of it', () => {
    const parts = new CodeParts();
    let before: string[] = [];
    for (let end = STEP; end < ENDLESS.code.length; end += STEP) {
      const now = parts.read(ENDLESS.code.slice(0, end)).map(({ text }) => text);
      expect(now.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
      before = now;
    }
    expect(before.length).toBeGreaterThan(10);
    expect(before.slice(0, -1).every((part) => part.endsWith('\n') && part.length < 9_000)).toBe(true);
    const whole = parts.read(ENDLESS.code);
    expect(whole.map(({ text }) => text).join('')).toBe(ENDLESS.code);
    expect(whole.some(({ hides }) => hides)).toBe(false);
    expect(parts.read('another')).toEqual([{ text: 'another', hides: false }]);
  });

  it.each([
    ['turned text', 'if (x\u202e) {', true],
    ['what is not seen', 'a\u200bb', true],
    ['empty lines', 'a\n\n\n\n\nb', true],
    ['a pile of marks', 'a\u0301\u0302\u0303\u0304\u0305', true],
    ['one picture of several', 'x 👩🏽\u200d💻 ❤\ufe0f 1\ufe0f', false],
    ['blanks', `\t${' '.repeat(100)}x`, false],
  ])('hide something as soon as it is there: %s', (_what, text, hides) => {
    for (const step of [1, 3, 50]) {
      const parts = new CodeParts();
      const code = `${ENDLESS.code.slice(0, 9_000)}${text}\n${ENDLESS.code.slice(0, 9_000)}`;
      // As the text comes, no sign of it in two halves.
      const signs = [...code];
      const at = [...code.slice(0, 9_000 + text.length)].length;
      for (let end = 8_900; end < at; end += step) parts.read(signs.slice(0, end).join(''));
      expect(parts.read(signs.slice(0, at).join('')).some((part) => part.hides)).toBe(hides);
      expect(parts.read(code).some((part) => part.hides)).toBe(hides);
      expect(parts.read('another')).toEqual([{ text: 'another', hides: false }]);
    }
  });

  it.each([
    ['code', ENDLESS.code],
    ['Chinese alone', fill(() => '这句话在这里，没有空格，也没有字母。\n')],
    ['Russian alone', fill(() => 'это слова без знаков\n')],
    ['a line of Chinese without an end', fill(() => '这句话在这里，没有空格。')],
  ])('are looked through as they come, and not again with every word: %s', (_what, code) => {
    expect(looked(code).reduce((sum, one) => sum + one, 0)).toBeLessThan(5 * code.length);
  });

  it('are not looked through for ever where a line of signs has no end', () => {
    expect(
      looked(
        fill(() => '→·'),
        500,
      ).slice(-20),
    ).toEqual(Array.from({ length: 20 }, () => 0));
  });

  it('are marked when they are whole where a line has no end', () => {
    const parts = new CodeParts();
    const [part] = parts.read(`\u202e${'x'.repeat(50_000)}`);
    expect(part?.hides).toBe(false);
  });
});
