import { describe, expect, it, vi } from 'vitest';
import { Patterns } from './pattern';

describe('a pattern of somebody else’s', () => {
  it.each([
    ['^[a-z][a-z0-9_-]*$', 'main-2', true],
    ['^[a-z][a-z0-9_-]*$', 'Main', false],
    ['^\\d{4}-\\d{2}-\\d{2}$', '2026-11-28', true],
    ['^\\d{4}-\\d{2}-\\d{2}$', '2026-11', false],
    ['^(open|closed)$', 'open', true],
    ['^https?://', 'http://a.example', true],
    ['^[^@]+@[^@]+\\.[^@]+$', 'a@b.example', true],
    ['^[^@]+@[^@]+\\.[^@]+$', 'nobody', false],
    ['[(+*]{2}', '(*', true],
    ['^\\(\\d{3}\\)$', '(123)', true],
    ['^\\p{Lu}\\p{L}{0,9}$', 'żabc', false],
    ['^\\p{Lu}\\p{L}{0,9}$', 'Żabc', true],
    // Not of the newer kind, but well understood.
    ['^[\\w-.]+$', 'a.b-c', true],
    ['^\\\\z[\\w-.]$', '\\za', true],
  ])('%s is tried on %s', (pattern, text, fits) => {
    expect(new Patterns().fit(pattern, text)).toBe(fits);
  });

  it.each([
    ['^(a+)+$', 'a'.repeat(40) + '!'],
    ['^(a|a)*$', 'a'.repeat(40) + '!'],
    ['(?:x+x+)+y', 'x'.repeat(60)],
    [`^${'a?'.repeat(30)}${'a'.repeat(30)}$`, 'a'.repeat(29)],
    ['^' + 'a*'.repeat(8) + '$', 'a'.repeat(200) + '!'],
    ['^(a|b|ab)(c|bcd)(?=d*)', 'abcd'],
    ['^(\\w+) \\1$', 'one one'],
    ['a*$', 'a'.repeat(100_000) + '!'],
    [`^x|${'a*'.repeat(3)}$`, 'a'.repeat(200) + '!'],
    ['(', '('],
    ['x'.repeat(501), 'x'],
  ])('%s is not tried where it may take for ever', (pattern, text) => {
    const tried = vi.spyOn(RegExp.prototype, 'test');
    expect(new Patterns().fit(pattern, text)).toBeNull();
    expect((tried.mock.contexts as RegExp[]).map(({ source }) => source)).not.toContain(pattern);
    tried.mockRestore();
  });

  it.each([
    ['\\A[a-z]+\\z', 'abc'],
    ['^\\d+\\Z', '12'],
    ['^\\h+$', 'ff'],
    ['^[[:alpha:]]+$', 'abc'],
    ['^[^[:space:]]+$', 'abc'],
    ['^\\p{Alpha}+\\-$', 'abc-'],
    ['^(?i)abc$', 'ABC'],
  ])('%s is not tried where it is written for another engine', (pattern, text) => {
    expect(new Patterns().fit(pattern, text)).toBeNull();
  });

  it('is tried on so many texts, and not on more', () => {
    const patterns = new Patterns();
    const tried = Array.from({ length: 100 }, () => patterns.fit('^a*a*$', 'a'.repeat(300)));
    expect([tried[0], tried.at(-1)]).toEqual([true, null]);
  });
});
