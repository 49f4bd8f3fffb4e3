import { describe, expect, it } from 'vitest';
import { hasTheWords, ranked, score, scoreSaid, wayOf } from './rank';

const order = (typed: string, names: string[]) =>
  ranked(
    typed,
    names.map((label) => ({ label })),
  ).map(({ one }) => one.label);
const fits = (typed: string, name: string, also = '') => score(typed, name, also) !== null;

describe('ranking', () => {
  it('leaves out what lacks a letter and keeps the order of what fits alike', () => {
    expect(order('', ['b', 'a'])).toEqual(['b', 'a']);
    expect(order('zz', ['settings', 'jazz'])).toEqual(['jazz']);
    expect(score('xyz', 'Settings')).toBeNull();
  });

  it('puts whole words before scattered letters, and beginnings before middles', () => {
    expect(order('plan', ['a_p_l_a_n', 'Explanations', 'Show the plan'])).toEqual([
      'Show the plan',
      'Explanations',
      'a_p_l_a_n',
    ]);
    expect(order('ns', ['Agents', 'New session'])).toEqual(['New session']);
    expect(order('sr', ['answer', 'session.rs', 'src/refresh.rs'])[0]).toBe('src/refresh.rs');
  });

  it('has what is named by its group alone behind what is named by itself', () => {
    const names = ['Settings · Hooks', 'Settings · Sessions', 'New session', 'Settings'];
    expect(order('se', names)).toEqual(['Settings · Sessions', 'Settings', 'New session', 'Settings · Hooks']);
    expect(order('settings hooks', names)).toEqual(['Settings · Hooks']);
  });

  it('has what is whole first, then what begins so, words that begin words, parts of words, initials, and letters', () => {
    const names = ['Sets of people', 'Resets', 'Old set', 'Set', 'A set of', 'Settings'];
    expect(order('set', names)).toEqual(['Set', 'Settings', 'Sets of people', 'A set of', 'Old set', 'Resets']);
    expect(order('ns', ['Nothing is', 'Nesting', 'Answers', 'New session'])).toEqual([
      'Answers',
      'New session',
      'Nesting',
    ]);
  });

  it('takes words in any order, and as one what stands in quotes', () => {
    const names = ['Export the session as a web page', 'The session list', 'A page of the web'];
    expect(order('web export', names)).toEqual(['Export the session as a web page']);
    expect(order('page web', names)).toEqual(['A page of the web', 'Export the session as a web page'].sort());
    expect(order('"web page"', names)).toEqual(['Export the session as a web page']);
    expect(order('“the session”', names)).toEqual(['The session list', 'Export the session as a web page']);
    expect(order('web page', ['A page of the web', 'Export as a web page'])[0]).toBe('Export as a web page');
    expect(fits('refresh auth', 'src/auth/refresh.rs')).toBe(true);
  });

  it('takes letters that stand apart for one short word only, from the beginning of a word on', () => {
    expect(fits('nwses', 'New session')).toBe(true);
    expect(fits('the retry', 'Summarise the conversation')).toBe(false);
    expect(fits('retry', 'Summarise the conversation')).toBe(false);
    expect(fits('nw ses', 'New session')).toBe(false);
    expect(fits('"nwses"', 'New session')).toBe(false);
    expect(fits('expsessio', 'Export the session')).toBe(false);
    expect(hasTheWords(score('nwses', 'New session') ?? 0)).toBe(false);
    expect(hasTheWords(score('ses', 'New session') ?? 0)).toBe(true);
    const long = `${'a'.repeat(5000)} b`;
    expect(fits('aaab', long)).toBe(true);
    expect(fits('aaac', long)).toBe(false);
  });

  it('finds by other words for it as a whole, and after the name itself', () => {
    expect([fits('chat', 'New session', 'new chat'), fits('nwch', 'New session', 'new chat')]).toEqual([true, false]);
    const list = [{ label: 'Message box', also: 'upload' }, { label: 'Upload a file' }, { label: 'Reuploaded' }];
    expect(ranked('upload', list).map(({ one }) => one.label)).toEqual(['Upload a file', 'Message box', 'Reuploaded']);
  });

  it('sets what was said beside names by how its words stand there', () => {
    const said = (typed: string, text: string) => wayOf(scoreSaid(typed, text));
    const named = (typed: string, name: string) => wayOf(score(typed, name) ?? 0);
    expect(said('the retry', 'and the retry waits')).toBe(named('the retry', 'On the retry'));
    expect(said('retry', 'retry')).toBeLessThan(named('retry', 'Retry'));
    // The words are further on in it than what is shown of it.
    expect(said('late words', 'only the beginning')).toBe(named('late words', 'words are late'));
    expect(said('et', 'set')).toBeGreaterThan(named('et', 'Settings'));
  });

  it('reads every script', () => {
    expect(order('设置', ['新建会话', '打开设置'])).toEqual(['打开设置']);
    expect(order('会话 导出', ['导出会话为网页', '新建会话'])).toEqual(['导出会话为网页']);
    expect(order('会话', ['新建会话', '会话列表'])).toEqual(['会话列表', '新建会话']);
    expect([fits('新会', '新建会话'), hasTheWords(score('新会', '新建会话') ?? 0)]).toEqual([true, false]);
    expect(wayOf(score('会话', '新建会话') ?? 0)).toBe(wayOf(score('session', 'New session') ?? 0));
  });
});
