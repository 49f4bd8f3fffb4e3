import { render, screen } from '@testing-library/svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import KeyNote from './KeyNote.svelte';
import type { Pending } from './along.svelte';

const file = (name: string, given: Partial<Pending> = {}): Pending => ({
  id: 1,
  name,
  size: 9,
  kind: 'text',
  blob: `kept-${name}`,
  picture: null,
  ...given,
});

describe('the note about keys', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const show = (text: string, files: Pending[] = []) => {
    const holdsKey = vi.fn(async (text: string, blobs: string[]) =>
      [text, ...blobs].some((one) => one.includes('sk-')),
    );
    const drawn = render(KeyNote, { text, files, model: 'kimi-k2', holdsKey });
    return { ...drawn, holdsKey };
  };
  const pause = () => vi.advanceTimersByTimeAsync(400);
  const said = () => screen.queryByRole('status')?.textContent ?? '';

  it('is said once a person pauses, names who would get it, and goes with the text', async () => {
    const { holdsKey, rerender } = show('s');
    for (const text of ['sk', 'sk-', 'sk-a']) await rerender({ text });
    expect([holdsKey.mock.calls.length, said()]).toEqual([0, '']);
    await pause();
    expect(holdsKey.mock.calls).toEqual([['sk-a', []]]);
    expect(said()).toContain('looks like a key. Once it is sent, it goes to kimi-k2');
    await rerender({ text: '' });
    expect(said()).toBe('');
  });

  it('stays while more is typed, and is not said of a text that is not there any more', async () => {
    const { holdsKey, rerender } = show('sk-a');
    await pause();
    await rerender({ text: 'sk-a and' });
    expect(said()).toContain('kimi-k2');
    let answer: (found: boolean) => void = () => undefined;
    holdsKey.mockImplementationOnce(() => new Promise((resolve) => (answer = resolve)));
    await pause();
    await rerender({ text: '' });
    answer(true);
    await pause();
    expect(said()).toBe('');
  });

  it('looks into texts that go along, once they are kept, and into nothing else', async () => {
    const { holdsKey, rerender } = show('', [file('sk-1.env', { blob: null }), file('sk-2.png', { kind: 'image' })]);
    await pause();
    expect(holdsKey).not.toHaveBeenCalled();
    await rerender({ files: [file('sk-1.env')] });
    await pause();
    expect(holdsKey.mock.calls).toEqual([['', ['kept-sk-1.env']]]);
    expect(said()).toContain('kimi-k2');
    await rerender({ files: [file('notes.md')] });
    await pause();
    expect(said()).toBe('');
  });

  it('says nothing where nobody could look', async () => {
    const { holdsKey, rerender } = show('a');
    holdsKey.mockRejectedValue({ code: 'invalid', message: '' });
    await rerender({ text: 'sk-a' });
    await pause();
    expect(said()).toBe('');
  });
});
