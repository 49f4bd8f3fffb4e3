import { describe, expect, it, vi } from 'vitest';
import type { Approval } from '../../ipc/bindings';
import { approval, diff } from '../../ipc/recorded/builders';
import { whatHides } from './hiding';

const command = (text: string) =>
  approval(
    'execute',
    { command: text },
    { preview: { preview: 'command', command: text, folder: '/', timeout_seconds: null } },
  );
const wrote = (content: string, path = '/a.ts') =>
  approval(
    'write_file',
    { file_path: path, content },
    // Only what is another than on the disk is in the lines that are shown.
    { preview: { preview: 'diff', diff: diff(path, '', 1, '-one\n+two') } },
  );
const found = (one: Approval) => {
  const { hidden, suspects, isWhole } = whatHides(one);
  return {
    hidden: hidden.map(({ place, line, mark }) => `${place}:${line} ${mark}`),
    suspects: suspects.map(({ word, reason }) => `${word} ${reason}`),
    isWhole,
  };
};
/** Words that are Russian, and look Latin each by itself. */
const LETTERS = [...'асеорху'];
const HARMLESS = LETTERS.flatMap((one) => LETTERS.map((other) => `как${one}${other}`)).join(' ');
const NOTHING = { hidden: [], suspects: [], isWhole: true };

describe('what hides in a call', () => {
  it.each([
    ['the text of a file, beyond what is shown', wrote('one\ntwo\nif (a\u202e) {}\n'), ['content:3 RLO']],
    ['the name of a file', wrote('', '/report\u202efdp.exe'), ['file_path:1 RLO']],
    [
      'what is put in a file',
      approval('edit_file', { file_path: '/a', old_string: 'a', new_string: 'x\n\u200b' }),
      ['new_string:2 ZWSP'],
    ],
    [
      'a folder that goes',
      approval(
        'delete_file',
        { file_path: '/a\u00a0' },
        { preview: { preview: 'delete', path: '/a\u00a0', files: 1, counted_all: true, is_dir: true } },
      ),
      ['file_path:1 NBSP'],
    ],
    ['a Chinese name', approval('delete_file', { file_path: '/你好\u3000世界' }), ['file_path:1 U+3000']],
    ['a Chinese text of one line', approval('write_file', { content: '你好\u200b，世界。' }), ['content:1 ZWSP']],
    ['an address', approval('mcp__web__get', { url: 'https://a.example/\u200d' }), ['url:1 ZWJ']],
    [
      'what lies deep in what a server gets',
      approval('mcp__hub__open', { issues: [{ title: 'a' }, { title: 'b\u0007', 'na\u2066me': 1 }] }),
      ['issues[1].title:1 BEL', 'issues[1].na\u2066me:1 LRI'],
    ],
    [
      'the task of a subagent',
      approval('task', { description: 'Look\nat it\u{e0041}', name: 'x' }),
      ['description:2 U+E0041'],
    ],
    ['a text alone', approval('mcp__x__y', 'a\u202e'), [':1 RLO']],
  ] as const)('is found in %s', (_what, one, hidden) => {
    expect(found(one)).toEqual({ ...NOTHING, hidden });
  });

  it.each([
    ['the text of a file', wrote('const аdmin = 1'), ['аdmin mixed']],
    ['a word alone on its line', wrote('a\nѕсоре\n'), ['ѕсоре imitates']],
    ['an address', approval('mcp__web__get', { url: 'https://gіthub.com/x' }), ['gіthub.com mixed']],
    ['a host', approval('task', { description: 'get xn--80ak6aa92e.com' }), ['xn--80ak6aa92e.com punycode']],
    ['the name of a file', wrote('', '/ｍain.rs'), ['ｍain.rs wide']],
    ['the name of a file in Chinese', wrote('', '/①检查'), ['①检查 wide']],
    ['letters of science', wrote('const Δtор = λаmbda'), ['Δtор mixed', 'λаmbda mixed']],
    ['a line with many words of its own language', wrote(`${HARMLESS} как раз раs`), ['раs mixed']],
    ['a command', command('echo как; ѕсоре'), ['как imitates', 'ѕсоре imitates']],
  ] as const)('is what looks like something else in %s', (_what, one, suspects) => {
    expect(found(one)).toEqual({ ...NOTHING, suspects });
  });

  it.each([
    ['lines that end as on Windows', 'a\r\nb\r\n'],
    ['the mark at the beginning of a file', '\ufeffa = 1'],
    ['tabs, columns and empty lines', `\tx${' '.repeat(40)}y\n\n\n\n\n\nz`],
    ['blanks of other languages', '10\u00a0km\n你好\u3000世界'],
    ['joined letters and pictures', 'می\u200cخواهم 👩\u200d💻 ❤\ufe0f'],
    ['another language', '// как это работает, отчёт.txt\n# Το αρχείο\n'],
    ['wide letters among those they are written with', '第１章 ＡＢＣ'],
    ['Chinese of one line, set in from its edge', '　　你好，世界。'],
    ['Chinese that is numbered', '①检查配置文件'],
    ['Japanese without a blank', 'テスト　①'],
    ['letters of science', 'const Δt = 1; return λx * σMax_θ + Ωm'],
  ])('is not %s in the text of a file', (_what, text) => {
    expect(found(wrote(text))).toEqual(NOTHING);
  });

  it('is not held against an ordinary call', () => {
    expect(found(command('cargo test --workspace && git push'))).toEqual(NOTHING);
    expect(found(approval('x', { a: null, b: 1, c: [true] }))).toEqual(NOTHING);
  });

  it('counts blanks in a command, in which the harmful part may stand behind them', () => {
    expect(found(command(`ls${' '.repeat(2000)}; rm -rf x`)).hidden).toEqual([':1 SPACE']);
  });

  it('is not sought without end, and that is said', () => {
    expect(found(wrote(`${'a é\n'.repeat(1_000_000)}\u202e`)).isWhole).toBe(false);
    expect(found(approval('x', { many: Array.from({ length: 100_000 }, () => '') })).isWhole).toBe(false);
    expect(found(wrote('а'.repeat(450_000))).isWhole).toBe(true);
    const many = Array.from({ length: 500 }, (_, at) => `\u202e${at}`);
    expect(found(approval('x', { many })).hidden).toHaveLength(500);
  });

  it('is sought once in a long line, however many words of it look like others', () => {
    const text = `${HARMLESS} ${'a '.repeat(210_000)}`;
    const tested = vi.spyOn(RegExp.prototype, 'test');
    const { suspects } = found(wrote(text));
    const letters = tested.mock.calls.reduce((sum, [one]) => sum + one.length, 0);
    tested.mockRestore();
    expect(suspects).toHaveLength(40);
    expect(letters).toBeLessThan(10 * text.length);
  });
});
