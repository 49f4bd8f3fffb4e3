import { afterEach, describe, expect, it } from 'vitest';
import type { Problem } from '../ipc/bindings';
import { asError } from './error';
import { i18n } from './i18n/i18n.svelte';
import { phrase, say } from './problem';

afterEach(() => i18n.use('en', 'en'));

const NESTED: Problem = {
  problem: 'nothing_taken_back',
  why: [
    { problem: 'changed_since', path: '/a.txt' },
    { problem: 'left_as_it_is', why: { problem: 'content_unusable', path: '/blobs', detail: 'Input/output error' } },
  ],
};

describe('what Bosun says', () => {
  it('has its arguments in it, and problems within problems', () => {
    expect(say({ problem: 'project_missing', path: '/x' })).toBe(
      'The folder /x does not exist; choose another, or create it first',
    );
    expect(say(NESTED)).toBe(
      "Nothing was undone: '/a.txt' has been changed since then in the same places, by you or by another program, so it stays as it is; restore the agent's version first, or edit the file yourself; " +
        'the content store at /blobs cannot be used: Input/output error; check that this folder can be read and written, then try again; ' +
        'it was left as it is',
    );
  });

  it('begins as a sentence does where its first word is Bosun’s own, and ends as one where it is several', () => {
    const why: Problem = { problem: 'disk_full' };
    expect(phrase(why)).toBe('the disk is full, so this could not be saved; free some space, then continue');
    expect(say({ problem: 'not_recorded', why })).toBe(
      'The disk is full, so this could not be saved; free some space, then continue. No unrecorded action was carried out.',
    );
    expect(say({ problem: 'database_foreign', path: '/x/y' })).toBe(
      '/x/y is not a database. It was left as it is; move it elsewhere to start with a new one.',
    );
    expect(say({ problem: 'said', detail: 'no such model' })).toBe('no such model');
    i18n.use('zh-CN', 'en');
    expect(say({ problem: 'not_recorded', why })).toMatch(/。$/);
  });

  it('is said in the language of the window, with the words of others as they came', () => {
    i18n.use('zh-CN', 'en');
    expect(say(NESTED)).toBe(
      '没有撤销任何内容：“/a.txt”的同一处后来又被你或其他程序修改过，因此保持原样；请先恢复智能体的版本，或自行修改该文件；' +
        '/blobs 处的内容存储无法使用：“Input/output error”；请检查该文件夹能否读写，然后重试；文件保持原样',
    );
    const refused = { code: 'invalid', message: 'an answer', problem: { problem: 'empty_message' } };
    expect(asError(refused).message).toBe('这条消息是空的；请写些内容再发送');
  });
});

describe('what was thrown', () => {
  it('is an error with a sentence, whatever it was', () => {
    expect(asError({ code: 'not_found', message: 'gone' })).toEqual({
      code: 'not_found',
      message: 'gone',
      problem: { problem: 'said', detail: 'gone' },
    });
    expect(asError('command start not found').message).toBe('command start not found');
    expect(asError(undefined).message).toBe(i18n.t.app.unknownError);
  });
});
