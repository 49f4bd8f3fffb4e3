import { fireEvent, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { expect, it, vi } from 'vitest';
import type { Item } from '../../ipc/bindings';
import { human } from '../../ipc/recorded/builders';
import { draw, setUp } from '../../test/stage';
import Conversation from './Conversation.svelte';

const nothing = () => undefined;
const actions = { ways: () => [], onContinue: nothing, onSwitchModel: nothing, onSettings: nothing };

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

it('keeps in the page what was there, where what stood before it is let go of', async () => {
  vi.stubGlobal('CSS', {});
  const scene = await setUp('long');
  const { workspace, host } = scene;
  const session = workspace.sessionId ?? '';
  const say = (count: number, turn: number, length: number) => {
    for (let at = 0; at < count; at++)
      host.emit(session, { type: 'item_started', item: human('x'.repeat(length), undefined, [], turn) });
  };
  say(60, 1e6, 20_000);
  say(10, 1e6 + 1, 10);
  say(10, 1e6 + 2, 10);
  const feed = workspace.feeds.acquire(session);
  await waitFor(() => expect(feed.snapshot).not.toBeNull());
  const { container } = draw(scene, Conversation, { feed, actions });
  const rows = () => container.querySelectorAll('[data-key]').length;
  await waitFor(() => expect(feed.snapshot?.items).toHaveLength(20));
  expect(rows()).toBe(20);
  say(30, 1e6 + 3, 10);
  await waitFor(() => expect(rows()).toBe(50), { timeout: 20_000 });
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
  workspace.goal = { session, foundIn: session, item: hit.id, text: 'needle' };
  const feed = workspace.feeds.acquire(session);
  const { container } = draw(scene, Conversation, { feed, actions });
  expect(feed.snapshot).toBeNull();
  await waitFor(() => expect(container.querySelector('.found')?.textContent).toContain('a needle'), {
    timeout: 20_000,
  });
  expect(workspace.goal).toBeNull();
}, 40_000);

/** A session of which so many earlier rows are not read yet, newest at the end; `scrollIntoView` is none of jsdom's. */
async function withEarlier(rows: Item[]) {
  vi.stubGlobal('CSS', {});
  Element.prototype.scrollIntoView = () => undefined;
  const scene = await setUp();
  const { workspace, host } = scene;
  const session = workspace.sessionId ?? '';
  host.world.earlier[session] = rows;
  const feed = workspace.feeds.acquire(session);
  await waitFor(() => expect(feed.snapshot).not.toBeNull());
  if (feed.snapshot) feed.snapshot = { ...feed.snapshot, items_before: rows.length };
  const load = vi.spyOn(scene.client, 'loadItems');
  workspace.isFinding = true;
  const drawn = draw(scene, Conversation, { feed, actions });
  return { ...scene, ...drawn, feed, load, field: drawn.getByRole('textbox', { name: 'Find in this session' }) };
}

it('looks through earlier rows until one has the words, and goes to it', async () => {
  const needle = human('A Needle in rows of hay');
  const hay = (count: number) => Array.from({ length: count }, (_, at) => human(`hay ${at}`));
  const { container, feed, load, field, findByRole, findByText } = await withEarlier([needle, ...hay(510)]);
  await userEvent.type(field, 'hay needle');
  await userEvent.click(await findByRole('button', { name: 'Search 511 earlier rows' }, { timeout: 20_000 }));
  await findByText(/^Looked through [\d,]+ of 511 earlier rows…$/);
  await waitFor(() => expect(container.querySelector('.found')?.textContent).toContain('A Needle'), {
    timeout: 20_000,
  });
  await findByText('1 of 1');
  expect([load.mock.calls.length, feed.snapshot?.items_before]).toEqual([2, 0]);
}, 60_000);

it('stops looking through earlier rows where a person says so, and keeps none that were read in vain', async () => {
  const { feed, load, field, findByRole, findByText, queryByRole } = await withEarlier([human('hay'), human('hay')]);
  const known = feed.snapshot?.items;
  let answer: ((rows: Item[]) => void) | undefined;
  load.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
  await userEvent.type(field, 'needle{Enter}');
  await findByText('Looked through 0 of 2 earlier rows…');
  await userEvent.click(await findByRole('button', { name: 'Stop' }));
  await findByText('Not found');
  answer?.([human('needle')]);
  await tick();
  expect([feed.snapshot?.items, load.mock.calls.length]).toEqual([known, 1]);
  await userEvent.click(await findByRole('button', { name: 'Search 2 earlier rows' }));
  await waitFor(() => expect(queryByRole('button', { name: /^(Search \d|Stop$)/ })).toBeNull(), { timeout: 20_000 });
  await findByText('Not found');
  expect(feed.snapshot?.items).toBe(known);
  // Other words were not looked for yet.
  await userEvent.type(field, 's');
  await findByRole('button', { name: 'Search 2 earlier rows' });
}, 60_000);

it('opens what a subagent did at the row that was found in it', async () => {
  vi.stubGlobal('CSS', {});
  const scene = await setUp();
  const { workspace, host } = scene;
  const session = workspace.sessionId ?? '';
  const feed = workspace.feeds.acquire(session);
  const item = host.snapshot('s-scout').items.at(-1)?.id ?? '';
  workspace.goal = { session, foundIn: 's-scout', item, text: 'fakes' };
  draw(scene, Conversation, { feed, actions });
  await waitFor(() => expect(workspace.dialog).not.toBeNull(), { timeout: 20_000 });
  expect(workspace.dialog).toMatchObject({
    kind: 'agent',
    node: { session: 's-scout' },
    sought: { item, text: 'fakes' },
  });
  expect([workspace.goal, workspace.isFinding]).toEqual([null, false]);
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
