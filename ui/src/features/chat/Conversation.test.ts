import { fireEvent, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { expect, it, vi } from 'vitest';
import type { Item } from '../../ipc/bindings';
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

it('opens what a subagent did, where that is where something was written', async () => {
  vi.stubGlobal('CSS', {});
  const scene = await setUp();
  const { workspace, host } = scene;
  const session = workspace.sessionId ?? '';
  const scout = host.snapshot(session).agents.find((node) => node.parent !== null);
  if (!scout) throw new Error('no subagent');
  workspace.goal = { session, item: null, agent: scout.session, text: '' };
  const feed = workspace.feeds.acquire(session);
  draw(scene, Conversation, { feed, actions });
  await waitFor(() => expect(workspace.dialog).toMatchObject({ kind: 'agent', node: { session: scout.session } }));
  expect(workspace.goal).toBeNull();
}, 40_000);

it('finds what was done for a todo also before the rows that were read, and says what could not be read', async () => {
  vi.stubGlobal('CSS', {});
  const scene = await setUp();
  const { workspace, client } = scene;
  const feed = workspace.feeds.acquire(workspace.sessionId ?? '');
  await waitFor(() => expect(feed.snapshot).not.toBeNull());
  const { snapshot } = feed;
  const todo = snapshot?.todos[0];
  const call = snapshot?.items.find((item) => item.body.kind === 'tool');
  if (!snapshot || !todo || call?.body.kind !== 'tool') throw new Error('no call to do it with');
  const early: Item = { ...call, id: 'early', body: { ...call.body, call_id: 'early', todos: [todo.id] } };
  feed.snapshot = { ...snapshot, items_before: 2 };
  const load = vi.spyOn(client, 'loadItems').mockRejectedValueOnce(new Error('no room'));
  load.mockResolvedValueOnce([human('hay')]).mockResolvedValueOnce([early]);
  const { container, findByText, findByRole } = draw(scene, Conversation, { feed, actions });
  workspace.panes.here.todoFilter = todo.id;
  await findByText('2 earlier rows not looked through', {}, { timeout: 20_000 });
  expect(workspace.errors).toHaveLength(1);
  await userEvent.click(await findByRole('button', { name: 'Try again' }));
  await waitFor(() => expect(feed.snapshot?.items[0]?.id).toBe('early'), { timeout: 20_000 });
  await waitFor(() => expect(container.querySelector('[data-key="early"], [data-item="early"]')).not.toBeNull());
  expect([container.querySelector('.filter')?.textContent.includes('earlier'), load.mock.calls.length]).toEqual([
    false,
    3,
  ]);
}, 40_000);

it('names in prose what hides or turns text', async () => {
  const { default: Markdown } = await import('../../shared/markdown/Markdown.svelte');
  const scene = await setUp();
  const text = 'Open safe\u202egpj.exe and **pay\u200bpal** ![pi\u202ec](x)\n\n<b\u202e>\n';
  const { container } = draw(scene, Markdown, { text });
  const marks = [...container.querySelectorAll('.mark')].map((mark) => mark.textContent);
  expect(marks).toEqual(['RLO', 'ZWSP', 'RLO', 'RLO']);
});
