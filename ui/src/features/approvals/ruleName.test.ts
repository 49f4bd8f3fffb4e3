import { describe, expect, it } from 'vitest';
import { en } from '../../shared/i18n/en';
import { zh } from '../../shared/i18n/zh';
import { ruleName } from './ruleName';

describe('the name of a rule', () => {
  it('is in the window’s language where the rule is Bosun’s own, else as the person wrote it', () => {
    expect(ruleName(en, 'refused before')).toBe('refused before');
    expect(ruleName(zh, 'time-out')).toBe('超时无人答复');
    for (const mode of ['plan only', 'edit freely in the project', 'run freely in the sandbox']) {
      expect(ruleName(zh, mode)).not.toBe(mode);
    }
    expect(ruleName(zh, 'cargo test *')).toBe('cargo test *');
    expect(ruleName(en, 'constructor')).toBe('constructor');
  });
});
