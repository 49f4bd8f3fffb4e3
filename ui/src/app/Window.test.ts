import { render, screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { recordedClient } from '../ipc/recorded';
import { world } from '../ipc/recorded/worlds';
import Window from './Window.svelte';

/** Dialogs are fetched when they are first opened. */
const SLOW = { timeout: 20_000 };
vi.stubGlobal('CSS', {});
const isOpen = () => document.querySelector('.dialog') !== null;

it('leaves with Escape what is begun in a dialog, and then the dialog', async () => {
  const { client } = recordedClient(world('mock'));
  const info = await client.start();
  render(Window, { client, info, onReady: () => Promise.resolve(), onUnusable: vi.fn() });
  await userEvent.click(await screen.findByRole('button', { name: /^Settings/ }, SLOW));
  await userEvent.click(await screen.findByRole('tab', { name: /^(Keys|Shortcuts|Keyboard)/ }, SLOW));
  const [change] = await screen.findAllByRole('button', { name: /^Change the shortcut/ });
  if (!change) throw new Error('no keys to change');
  await userEvent.click(change);
  expect(document.querySelector('.taking')).not.toBeNull();
  await userEvent.keyboard('{Escape}');
  expect([isOpen(), document.querySelector('.taking')]).toEqual([true, null]);
  await userEvent.keyboard('{Escape}');
  await waitFor(() => expect(isOpen()).toBe(false));

  await userEvent.click(screen.getByRole('button', { name: /^Skills/ }));
  await userEvent.click(await screen.findByRole('button', { name: /^New file/ }, SLOW));
  const name = screen.getByRole('textbox', { name: /new file/i });
  await userEvent.type(name, 'scripts{Escape}');
  expect([isOpen(), name.isConnected]).toEqual([true, false]);
  await userEvent.keyboard('{Escape}');
  await waitFor(() => expect(isOpen()).toBe(false));
}, 60_000);

it('lists providers again when something new is known of them', async () => {
  const { client } = recordedClient(world('mock'));
  const begun = await client.start();
  const info = { ...begun, settings: { ...begun.settings, welcomed: false } };
  const subscribed = vi.spyOn(client, 'subscribeProviders');
  const listed = vi.spyOn(client, 'listProviders');
  render(Window, { client, info, onReady: () => Promise.resolve(), onUnusable: vi.fn() });
  await screen.findAllByRole('heading', {}, SLOW);
  await waitFor(() => expect(listed).toHaveBeenCalled());
  const [began = 0, first = 0] = [subscribed, listed].map(({ mock }) => mock.invocationCallOrder[0]);
  expect(began).toBeLessThan(first);
  const before = listed.mock.calls.length;
  subscribed.mock.calls[0]?.[0]();
  await waitFor(() => expect(listed).toHaveBeenCalledTimes(before + 1));
}, 60_000);
