import { fireEvent, waitFor } from '@testing-library/svelte';
import { tick } from 'svelte';
import { expect, it, vi } from 'vitest';
import { human } from '../../ipc/recorded/builders';
import { draw, setUp } from '../../test/stage';
import Conversation from './Conversation.svelte';

const nothing = () => undefined;
const actions = { onContinue: nothing, onSwitchModel: nothing, onSettings: nothing };

it('remembers all the rows that were in the page, for who comes back to one that is far up', async () => {
  vi.stubGlobal('CSS', {});
  const scene = await setUp();
  const { workspace, host } = scene;
  const session = workspace.sessionId ?? '';
  for (let at = 0; at < 60; at++) host.emit(session, { type: 'item_started', item: human(`before ${at}`) });
  const feed = workspace.feeds.acquire(session);
  await waitFor(() => expect(feed.snapshot).not.toBeNull());
  const { container } = draw(scene, Conversation, { feed, actions });
  const rows = () => container.querySelectorAll('[data-key]').length;
  await tick();
  expect(rows()).toBe(40);
  for (let at = 0; at < 30; at++) host.emit(session, { type: 'item_started', item: human(`after ${at}`) });
  await waitFor(() => expect(rows()).toBe(70), { timeout: 20_000 });

  const log = container.querySelector('.log');
  if (!log) throw new Error('no conversation');
  // A person scrolls away from the end of it.
  Object.defineProperty(log, 'scrollHeight', { value: 9_000 });
  await fireEvent.wheel(log);
  await fireEvent.scroll(log);
  expect(feed.place).toMatchObject({ size: 70, lastId: feed.snapshot?.items.at(-1)?.id });
}, 40_000);

it('goes to a hit that was asked for before the session was there', async () => {
  vi.stubGlobal('CSS', {});
  Element.prototype.scrollIntoView = () => undefined;
  const scene = await setUp();
  const { workspace, host } = scene;
  const session = workspace.sessionId ?? '';
  const hit = human('a needle');
  host.emit(session, { type: 'item_started', item: hit });
  for (let at = 0; at < 60; at++) host.emit(session, { type: 'item_started', item: human(`hay ${at}`) });
  workspace.goal = { session, item: hit.id, text: 'needle' };
  const feed = workspace.feeds.acquire(session);
  const { container } = draw(scene, Conversation, { feed, actions });
  expect(feed.snapshot).toBeNull();
  await waitFor(() => expect(container.querySelector('.found')?.textContent).toContain('a needle'), {
    timeout: 20_000,
  });
  expect(workspace.goal).toBeNull();
}, 40_000);
