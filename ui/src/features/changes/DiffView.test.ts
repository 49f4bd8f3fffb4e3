import { fireEvent, render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import type { DiffLine, FileDiff } from '../../ipc/bindings';
import { diff } from '../../ipc/recorded/builders';
import { changeKeys } from './keys';
import DiffView from './DiffView.svelte';

const FILE = Array.from({ length: 40 }, (_, at) => `line ${at + 1}`);
/** The line 11 is new and the line 31 is another, so that lines from there on moved down by one. */
const [first, second] = [diff('/a', '', 10, ' line 10\n+line 11'), diff('/a', '', 30, ' line 30\n-old\n+line 31')];
const [top, end] = [first.hunks[0], second.hunks[0]];
if (!top || !end) throw new Error('no hunks');
const DIFF: FileDiff = { ...first, hunks: [top, { ...end, old_start: 29, lines: end.lines }] };
const read = (lines: readonly string[]) => async (from: number, count: number) =>
  lines.slice(from - 1, from - 1 + count);

/** The numbers of both sides and the text, of the lines that hold these words. */
const lines = (words: string) =>
  [...document.querySelectorAll('.line')]
    .filter((line) => line.textContent?.includes(words))
    .map((line) => [...line.children].map((part) => part.textContent?.trim()));

describe('what is left out of a change', () => {
  it('is shown from the file, with the numbers of both sides', async () => {
    render(DiffView, { diff: DIFF, onBetween: read(FILE) });
    const buttons = screen.getAllByRole('button', { name: /^Show/ });
    expect(buttons.map((one) => one.textContent?.trim())).toEqual([
      'Show 9 unchanged lines',
      'Show 18 unchanged lines',
    ]);
    await userEvent.click(screen.getByRole('button', { name: 'Show 18 unchanged lines' }));
    await screen.findByText('line 12');
    expect(lines('line 29')).toEqual([['28', '29', '', 'line 29']]);
    expect(lines('line 12')).toEqual([['11', '12', '', 'line 12']]);
    expect(screen.queryByRole('button', { name: 'Show 18 unchanged lines' })).toBeNull();
    expect(screen.getByRole('button', { name: 'Show 9 unchanged lines' })).toBeTruthy();
  });

  it('is shown behind the last place too, down to the end of the file', async () => {
    render(DiffView, { diff: DIFF, onBetween: read(FILE), lines: FILE.length });
    await userEvent.click(screen.getAllByRole('button', { name: 'Show 9 unchanged lines' })[1] as HTMLElement);
    await screen.findByText('line 40');
    expect(lines('line 32')).toEqual([['31', '32', '', 'line 32']]);
    expect(lines('line 40')).toEqual([['39', '40', '', 'line 40']]);
    expect(screen.getAllByRole('button', { name: 'Show 9 unchanged lines' }).length).toBe(1);
  });

  it('is not told of behind a diff that is cut', () => {
    render(DiffView, { diff: { ...DIFF, truncated: true }, onBetween: read(FILE), lines: FILE.length });
    expect(screen.getAllByRole('button', { name: /^Show/ }).length).toBe(2);
  });

  it('is said to be gone where the file is another by now', async () => {
    render(DiffView, { diff: DIFF, onBetween: read(['something else', ...FILE]) });
    await userEvent.click(screen.getByRole('button', { name: 'Show 9 unchanged lines' }));
    await screen.findByText('The file has changed since: these lines cannot be shown.');
    expect(screen.queryByText('line 5')).toBeNull();
  });
});

describe('a comment', () => {
  it.each([false, true])('can be on a line that is no longer there (split: %s)', async (isSplit) => {
    const onLine = vi.fn();
    const gone = diff('/a', '', 5, '-one\n-two', { deleted: true });
    render(DiffView, { diff: gone, isSplit, onLine });
    await fireEvent.click(screen.getByText('6'));
    expect(onLine).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ kind: 'removed', old: 6, new: null }));
  });
});

describe('the keys', () => {
  it.each([false, true])('move from line to line of a hunk, of which one is commented (split: %s)', async (isSplit) => {
    const said: (string | undefined)[] = [];
    const onLine = (line: DiffLine) => said.push(line.segments.map(({ text }) => text).join(''));
    const { container } = render(DiffView, { diff: DIFF, isSplit, onLine });
    const key = changeKeys({ place: () => container, isWide: () => false, nextFile: vi.fn() });
    const press = (name: string) => {
      const event = new KeyboardEvent('keydown', { key: name, cancelable: true });
      key(event);
      return event.defaultPrevented;
    };
    container.querySelector<HTMLElement>('[data-hunk]')?.focus();
    press('c');
    press('ArrowDown');
    press('c');
    press('ArrowDown');
    press('ArrowDown');
    press('c');
    press('ArrowUp');
    press('c');
    expect(said.splice(0)).toEqual(['line 10', 'line 10', 'line 11', 'line 10']);
    press(']');
    press('c');
    press('ArrowDown');
    press('ArrowDown');
    press('c');
    // Beside each other both are one row, of which the line of now is meant.
    expect(said).toEqual(['line 30', isSplit ? 'line 31' : 'old']);
    await fireEvent.click(document.body);
    (document.activeElement as HTMLElement | null)?.blur();
    expect(press('ArrowDown')).toBe(false);
  });
});
