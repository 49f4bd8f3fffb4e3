import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { draw, setUp } from '../test/stage';
import Palette from './Palette.svelte';

it('finds any file of the project, and shows it in the pane of files', async () => {
  const scene = await setUp();
  const feed = scene.workspace.feeds.acquire('s-refresh');
  await waitFor(() => expect(feed.snapshot).toBeTruthy());
  const onClose = vi.fn();
  draw(scene, Palette, { onClose });
  await userEvent.type(screen.getByRole('combobox'), 'auth/refresh.rs');
  await userEvent.click(await screen.findByText('src/auth/refresh.rs', {}, { timeout: 4000 }));
  expect(onClose).toHaveBeenCalled();
  expect([scene.workspace.layout.tab, scene.workspace.fileGoal]).toEqual(['files', '/src/auth/refresh.rs']);
});

it('says what could not be searched, and why, in place of finding nothing', async () => {
  const scene = await setUp();
  vi.spyOn(scene.client, 'searchSessions').mockRejectedValueOnce(new Error('the database is locked'));
  draw(scene, Palette, { onClose: vi.fn() });
  await userEvent.type(screen.getByRole('combobox'), 'zzzz');
  const failure = await screen.findByText(
    /^Not searched: Said in sessions\. The database is locked/i,
    {},
    { timeout: 4000 },
  );
  expect(failure.closest('[role=alert]')).not.toBeNull();
  expect(screen.queryByText('Nothing found')).toBeNull();
  // What is searched again and answers has no failure.
  await userEvent.type(screen.getByRole('combobox'), 'z');
  expect(await screen.findByText('Nothing found', {}, { timeout: 4000 })).toBeTruthy();
});

it('marks the words of what was said, says where and when, and leads to what a subagent did', async () => {
  const scene = await setUp();
  const { workspace } = scene;
  draw(scene, Palette, { onClose: vi.fn() });
  await userEvent.type(screen.getByRole('combobox'), 'billing fakes');
  const hit = await screen.findByRole('option', { name: /^Two fakes are in use/ }, { timeout: 4000 });
  expect([...hit.querySelectorAll('mark')].map((mark) => mark.textContent)).toEqual(['fakes', 'billing']);
  expect(hit.textContent).toContain('Two fakes are in use: `ManualClock` in **auth** and `FrozenTime` in **billing**.');
  expect(hit.querySelector('.note')?.textContent).toMatch(/^Token refresh fails after sleep · by a subagent · ./);
  await userEvent.click(hit);
  expect([workspace.sessionId, workspace.isFinding]).toEqual(['s-refresh', false]);
  expect(workspace.goal).toMatchObject({ session: 's-refresh', foundIn: 's-scout', text: 'billing fakes' });
});
