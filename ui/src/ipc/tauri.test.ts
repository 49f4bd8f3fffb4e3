import { clearMocks, mockIPC } from '@tauri-apps/api/mocks';
import type { Channel } from '@tauri-apps/api/core';
import { afterEach, expect, it, vi } from 'vitest';
import type { ProjectView } from './bindings';
import { world } from './recorded/worlds';
import { tauriClient } from './tauri';

afterEach(clearMocks);

it('loses no news of projects that come before the first list', async () => {
  const [project] = world('mock').projects as [ProjectView];
  const moved = [{ ...project, name: 'moved' }];
  const renamed = [{ ...project, name: 'renamed' }];
  let news: Channel<ProjectView[]> | undefined;
  mockIPC((_, given) => {
    news = (given as { channel: Channel<ProjectView[]> }).channel;
    news.onmessage(moved);
    return [project];
  });
  const listener = vi.fn();
  const { first, close } = await tauriClient().subscribeProjects(listener);
  expect([first, listener.mock.calls]).toEqual([moved, []]);
  news?.onmessage(renamed);
  expect(listener.mock.calls).toEqual([[renamed]]);
  close();
  news?.onmessage(moved);
  expect(listener).toHaveBeenCalledTimes(1);
});
