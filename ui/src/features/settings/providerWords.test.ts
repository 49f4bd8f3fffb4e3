import { describe, expect, it } from 'vitest';
import { en } from '../../shared/i18n/en';
import { zh } from '../../shared/i18n/zh';
import { modelWord } from './providerWords';

describe('modelWord', () => {
  it('is the name that the provider knows a model by', () => {
    expect(modelWord(en, { provider: 'deepseek', name: 'deepseek-chat' })).toBe('deepseek-chat');
  });

  it('says what the tour is, and in which language it speaks', () => {
    expect(modelWord(en, { provider: 'tour', name: 'en' })).toBe('Scripted tour · English');
    expect(modelWord(zh, { provider: 'tour', name: 'zh' })).toBe(`${zh.chat.scripted} · 简体中文`);
  });
});
