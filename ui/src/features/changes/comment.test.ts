import { afterEach, expect, it } from 'vitest';
import type { DiffLine } from '../../ipc/bindings';
import { i18n } from '../../shared/i18n/i18n.svelte';
import { quoted } from './comment';

afterEach(() => i18n.use('en', 'en'));

const line = (old: number | null, now: number | null, ...parts: string[]): DiffLine => ({
  kind: now === null ? 'removed' : old === null ? 'added' : 'context',
  old,
  new: now,
  segments: parts.map((text) => ({ text, changed: false })),
  no_newline: false,
});

it('names the line and holds it, so that it means something when the file has changed', () => {
  expect(quoted(line(null, 7, '  let ', 'x = 1;'))).toBe(':7\n> let x = 1;\n');
  expect(quoted(line(9, null, 'gone'))).toBe(':9 (removed)\n> gone\n');
  expect(quoted(line(1, 2, 'a'.repeat(999)))).toBe(`:2\n> ${'a'.repeat(200)}…\n`);
  i18n.use('zh-CN', 'en');
  expect(quoted(line(9, null, 'gone'))).toBe(':9（已删除）\n> gone\n');
});
