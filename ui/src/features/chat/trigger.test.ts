import { describe, expect, it } from 'vitest';
import { commandIn, complete, triggerAt } from './trigger';

const at = (text: string) => triggerAt(text.replace('|', ''), text.indexOf('|'));

describe('what is begun in the message box', () => {
  it('is a command only as the whole message', () => {
    expect(at('/|')).toEqual({ kind: 'command', from: 0, to: 1, typed: '' });
    expect(at('/pla|')).toMatchObject({ kind: 'command', typed: 'pla' });
    expect(at('/导出|')).toMatchObject({ kind: 'command', typed: '导出' });
    expect([at('/pla| more'), at('see /pla|'), at('/src/lib|'), at(' /|')]).toEqual([null, null, null, null]);
  });

  it('is one word after a slash, or a message like any other', () => {
    expect(['/exprot', '/导出 \n'].map(commandIn)).toEqual(['exprot', '导出']);
    expect(['/', '/src/lib', '/a b', ' /a', 'a'].map(commandIn)).toEqual([null, null, null, null, null]);
  });

  it('is a file after a sign that begins a word', () => {
    expect(at('look at @src/li| please')).toEqual({ kind: 'file', from: 8, to: 15, typed: 'src/li' });
    expect(at('@|')).toMatchObject({ kind: 'file', typed: '' });
    expect([at('me@example|'), at('@a b|'), at('plain|')]).toEqual([null, null, null]);
  });

  it('becomes the whole name, with room after it', () => {
    const text = 'look at @li please';
    const trigger = triggerAt(text, 11);
    expect(trigger && complete(text, trigger, 'src/lib.rs')).toEqual({ text: 'look at @src/lib.rs please', caret: 19 });
    expect(complete('@l', { kind: 'file', from: 0, to: 2, typed: 'l' }, 'lib.rs')).toEqual({
      text: '@lib.rs ',
      caret: 8,
    });
  });
});
