import { fireEvent, screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, it, vi } from 'vitest';
import type { ProjectTrust, TrustItem } from '../../ipc/bindings';
import { draw, setUp } from '../../test/stage';
import TrustDialog from './TrustDialog.svelte';

const item = (kind: TrustItem['kind'], path: string, change: Partial<TrustItem> = {}): TrustItem => ({
  kind,
  name: path,
  state: 'new',
  files: [{ path, state: 'new', hash: path, size: 1 }],
  effects: [],
  problem: null,
  ...change,
});

/** jsdom lays nothing out: what is shown is as tall as this says. */
let tall = 0;

async function show(items: TrustItem[]) {
  const scene = await setUp();
  const { client } = scene.workspace;
  vi.spyOn(HTMLElement.prototype, 'scrollHeight', 'get').mockImplementation(() => tall);
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(100);
  vi.spyOn(client, 'projectTrust').mockImplementation(async (): Promise<ProjectTrust> => ({ items, undecided: 0 }));
  const text = vi.spyOn(client, 'trustText');
  text.mockImplementation(async (_project, path) => {
    if (path === '/lost') throw new Error('no room');
    return { hash: path, text: `Words of ${path}`, diff: null };
  });
  const decide = vi.spyOn(client, 'decideTrust').mockImplementation(async () => undefined);
  draw(scene, TrustDialog, { onClose: () => undefined });
  return { decide, text, user: userEvent.setup() };
}

const button = (name: RegExp | string) => screen.findByRole<HTMLButtonElement>('button', { name });
afterEach(() => (tall = 0));

it('trusts everything once each was opened, and leads to those that were not', async () => {
  const { decide, user } = await show([item('config', '/c'), item('instructions', '/a'), item('skill', '/b')]);
  await screen.findByText('Seen 1 of 3');
  expect((await button(/^Trust everything/)).disabled).toBe(true);
  await user.click(await button('Next'));
  await screen.findByText('Words of /b');
  await screen.findByText('Seen 2 of 3');
  await user.keyboard('{ArrowDown}');
  await screen.findByText('Words of /c');
  await screen.findByText('Seen 3 of 3');
  expect(screen.queryByRole('button', { name: 'Next' })).toBeNull();
  await user.click(await button(/^Trust everything/));
  expect(decide.mock.calls[0]?.[1].files.map(({ path }) => path)).toEqual(['/a', '/b', '/c']);
});

it('trusts one whose end was in sight, and reads on in it until then', async () => {
  tall = 250;
  const { user } = await show([item('instructions', '/a'), item('skill', '/b')]);
  await screen.findByText('Words of /a');
  const one = await button('Trust this');
  for (const at of [85, 170]) {
    expect(one.disabled).toBe(true);
    await user.click(await button('Read on'));
    const box = document.querySelector('.detail');
    expect(box?.scrollTop).toBe(at);
    if (box) await fireEvent.scroll(box);
  }
  await waitFor(() => expect(one.disabled).toBe(false));
  await screen.findByText('Seen 1 of 2');
});

it('takes what could not be read for unseen, goes on to the others, and trusts those alone', async () => {
  const { user, decide } = await show([item('instructions', '/lost'), item('skill', '/b')]);
  await screen.findByText('Seen 0 of 2');
  await button('Try again');
  expect((await button('Trust this')).disabled).toBe(true);
  await user.click(await button('Next'));
  await screen.findByText('Words of /b');
  await screen.findByText('Seen 1 of 2');
  await user.click(await button(/^Trust everything/));
  expect(decide.mock.calls[0]?.[1].files.map(({ path }) => path)).toEqual(['/b']);
});

it('leads through what could be read at a second try, to its end, before everything is trusted', async () => {
  tall = 250;
  const { user, decide, text } = await show([item('instructions', '/lost')]);
  await button('Try again');
  // What nobody can read is no reason to wait, and nothing to trust.
  expect(screen.queryByRole('button', { name: 'Read on' })).toBeNull();
  text.mockImplementation(async (_project, path) => ({ hash: path, text: `Words of ${path}`, diff: null }));
  await user.click(await button('Try again'));
  await screen.findByText('Words of /lost');
  for (const at of [85, 170]) {
    expect((await button(/^Trust everything/)).disabled).toBe(true);
    await user.click(await button('Read on'));
    const box = document.querySelector('.detail');
    expect(box?.scrollTop).toBe(at);
    if (box) await fireEvent.scroll(box);
  }
  await user.click(await button(/^Trust everything/));
  expect(decide.mock.calls[0]?.[1].files.map(({ path }) => path)).toEqual(['/lost']);
});

it('waits for every text of what is read at a second try', async () => {
  const parts = item('skill', '/a', {
    files: ['/a', '/lost'].map((path) => ({ path, state: 'new' as const, hash: path, size: 1 })),
  });
  const { user, text } = await show([parts, item('skill', '/b')]);
  await user.click(await button('Next'));
  await screen.findByText('Words of /b');
  expect(screen.queryByRole('button', { name: 'Next' })).toBeNull();
  text.mockImplementation(async (_project, path) => ({ hash: path, text: `Words of ${path}`, diff: null }));
  await user.click(await screen.findByRole('button', { name: /^\/a/ }));
  // Looked at again it is all there.
  await screen.findByText('Words of /lost');
  await screen.findByText('Seen 2 of 2');
});
