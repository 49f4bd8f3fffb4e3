import { render, screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { recordedClient } from '../ipc/recorded';
import { world } from '../ipc/recorded/worlds';
import Window from './Window.svelte';

vi.stubGlobal('CSS', {});

/** The window, whose person has just pressed its cross while these sessions are at work. */
async function closed(sessions: string[], muted = false) {
  const { client, host } = recordedClient(world('mock'));
  const begun = await client.start();
  const info = { ...begun, settings: { ...begun.settings, muted } };
  render(Window, { client, info, onReady: () => Promise.resolve(), onUnusable: vi.fn() });
  await screen.findByRole('button', { name: /^Settings/ }, { timeout: 20_000 });
  await waitFor(() => {
    host.tellGoal({ goal: 'close', sessions });
    expect(sheet()).not.toBeNull();
  });
  const said = () => host.calls.filter(({ name }) => name.includes('CloseQuestion')).map(({ value }) => value);
  const shown = () => host.calls.filter(({ name }) => name === 'closeQuestionShown').length;
  return { host, said, shown };
}

const sheet = () => document.querySelector('.close-sheet');
const press = async (name: RegExp) => userEvent.click(await screen.findByRole('button', { name }));

it('names what is at work, says that it is seen, and has the safe answer at hand', async () => {
  const { host, said, shown } = await closed(['s-survey', 's-gone']);
  await screen.findByRole('heading', { name: 'Close while 2 sessions are working?' });
  const rows = screen.getByRole('list', { name: 'Sessions at work' });
  const survey = host.summaries().find(({ id }) => id === 's-survey');
  expect(rows.textContent).toContain(survey?.title);
  expect(rows.textContent).toContain('New session');
  await waitFor(() => expect(shown()).toBe(1));
  expect(document.activeElement?.textContent).toBe('Keep working');
  // Nothing behind the question takes keys, and Escape is the safe answer.
  await userEvent.keyboard('{Control>}k{/Control}');
  expect(document.querySelector('.palette')).toBeNull();
  await userEvent.keyboard('{Escape}');
  await waitFor(() => expect(sheet()).toBeNull());
  expect(said()).toEqual(['stay']);
}, 60_000);

it('hides with the window, and is asked anew the next time', async () => {
  const { host, said, shown } = await closed(['s-survey']);
  await press(/^Close when done/);
  await waitFor(() => expect(sheet()).toBeNull());
  host.tellGoal({ goal: 'close', sessions: ['s-survey'] });
  await waitFor(() => expect(shown()).toBe(2));
  host.tellGoal({ goal: 'stay' });
  await waitFor(() => expect(sheet()).toBeNull());
  expect(said()).toEqual(['when_done']);
}, 60_000);

it('takes one answer while it stops, and can be closed when nothing is at work any more', async () => {
  const { host, said } = await closed(['s-survey'], true);
  expect(sheet()?.textContent).not.toContain('notification');
  host.tellGoal({ goal: 'close', sessions: [] });
  await screen.findByRole('heading', { name: 'Close Bosun?' });
  expect(document.activeElement?.textContent?.trim()).toBe('Keep open');
  host.tellGoal({ goal: 'close', sessions: ['s-survey'] });
  await press(/^Stop and close/);
  const stopping = await screen.findByRole('button', { name: 'Stopping…' });
  expect(stopping).toHaveProperty('disabled', true);
  await userEvent.keyboard('{Escape}');
  expect([said(), sheet() !== null]).toEqual([['stop'], true]);
  // Stopped, it closes in a moment; nothing else is offered.
  host.tellGoal({ goal: 'close', sessions: [] });
  await screen.findByRole('button', { name: 'Stopping…' });
}, 60_000);
