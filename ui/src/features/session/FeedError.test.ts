import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { draw, setUp } from '../../test/stage';
import FeedError from './FeedError.svelte';

it('keeps the focus on its button while it is tried again, and tries once at a time', async () => {
  const scene = await setUp();
  const { workspace, client } = scene;
  let refuse: () => void = () => undefined;
  const subscribe = vi.spyOn(client, 'subscribeSession').mockRejectedValueOnce(new Error('locked'));
  const feed = workspace.feeds.acquire('another');
  await waitFor(() => expect(feed.error).not.toBeNull());
  draw(scene, FeedError, { feed });
  const button = screen.getByRole('button', { name: 'Try again' });
  subscribe.mockImplementation(() => new Promise((_, reject) => (refuse = () => reject(new Error('still locked')))));
  await userEvent.click(button);
  await userEvent.keyboard('{Enter}');
  expect([subscribe.mock.calls.length, button.ariaBusy ?? button.getAttribute('aria-busy')]).toEqual([2, 'true']);
  refuse();
  await waitFor(() => expect(screen.getByRole('alert').textContent).toContain('still locked'));
  expect([document.activeElement === button, button.getAttribute('aria-busy')]).toEqual([true, 'false']);
});
