import { fireEvent, render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, it, vi } from 'vitest';
import { answerKey } from '../../app/unsent.svelte';
import { approval } from '../../ipc/recorded/builders';
import { setUp } from '../../test/stage';
import ApprovalCard from './ApprovalCard.svelte';

const ASKED = approval(
  'write_file',
  { file_path: '/.env', content: 'TOKEN=sk-abcd' },
  { preview: { preview: 'problem', message: '', problem: { problem: 'no_shell' } } },
);
const KEY = answerKey(ASKED);

let time = 10_000;
beforeEach(() => {
  vi.spyOn(performance, 'now').mockImplementation(() => (time += 1_000));
});

/** A card in a window, which asks whether a text has a key in it, and is answered when that is wanted. */
async function card() {
  const { workspace } = await setUp();
  const holdsKey = vi.fn(async (text: string) => /\bsk-\w{8,}/.test(text));
  const given = { approval: ASKED, unsent: workspace.unsent, holdsKey, onDecide: vi.fn() };
  const show = () => render(ApprovalCard, given);
  const stored = () => {
    window.dispatchEvent(new Event('pagehide'));
    return localStorage.getItem('bosun.unsent') ?? '{}';
  };
  return { unsent: workspace.unsent, holdsKey, show, stored, user: userEvent.setup() };
}

it('keeps an answer with a key in it in memory only, for as long as it has one', async () => {
  const { show, stored, unsent, user, holdsKey } = await card();
  const first = show();
  await user.click(screen.getByRole('button', { name: /^Reject/ }));
  await user.type(screen.getByRole('textbox'), 'use ');
  await vi.waitFor(() => expect(stored()).toContain('use '));
  await user.type(screen.getByRole('textbox'), 'sk-12345678');
  await vi.waitFor(() => expect(holdsKey).toHaveBeenLastCalledWith(expect.stringContaining('sk-12345678')));
  await vi.waitFor(() => expect(stored()).toBe('{}'));
  expect(JSON.stringify(unsent.of(KEY, (value): value is object => typeof value === 'object'))).toContain(
    'sk-12345678',
  );
  // It is there when the card comes back, and nowhere else.
  first.unmount();
  show();
  expect(screen.getByRole('textbox')).toHaveProperty('value', 'use sk-12345678');
  await fireEvent.input(screen.getByRole('textbox'), { target: { value: 'use another' } });
  await vi.waitFor(() => expect(stored()).toContain('use another'));
  await user.click(screen.getByRole('button', { name: 'Cancel' }));
  expect([stored(), unsent.keysOf('answer:')]).toEqual(['{}', []]);
});

it('stores no key that came to be of a half in the call and a half beside it', async () => {
  const { show, stored, unsent, user, holdsKey } = await card();
  show();
  await user.click(screen.getByRole('button', { name: /^Edit/ }));
  await user.click(screen.getByRole('tab', { name: 'JSON' }));
  const field = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'JSON' });
  // It is no JSON at the moment, so that only the change of the text is stored.
  const write = (half: string) =>
    fireEvent.input(field, {
      target: { value: `${field.value.replace(/sk-abcd\w*/, `sk-abcd${half}`).replace(/\}?$/, '')}` },
    });
  await write('zq');
  await vi.waitFor(() => expect(stored()).toContain('zq'));
  await write('zqgh5678');
  await vi.waitFor(() => expect(holdsKey).toHaveBeenLastCalledWith(expect.stringContaining('sk-abcdzqgh5678')));
  await vi.waitFor(() => expect(stored()).toBe('{}'));
  expect(unsent.keysOf('answer:')).toHaveLength(1);
});

it('stores nothing that could not be asked about', async () => {
  const { show, stored, unsent, user, holdsKey } = await card();
  holdsKey.mockRejectedValue(new Error('no core'));
  show();
  await user.click(screen.getByRole('button', { name: /^Reject/ }));
  await user.type(screen.getByRole('textbox'), 'no');
  await vi.waitFor(() => expect(holdsKey).toHaveBeenCalledTimes(2));
  expect([stored(), unsent.keysOf('answer:').length]).toEqual(['{}', 1]);
});
