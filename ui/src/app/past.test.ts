import { expect, it, vi } from 'vitest';
import { ai, tool } from '../ipc/recorded/builders';
import type { Item } from '../ipc/bindings';
import { setUp } from '../test/stage';
import type { Dialog } from './dialog';

it('asks the same again in a session of its own, with what stood with it', async () => {
  const { workspace, host } = await setUp('attachments');
  const { items } = host.snapshot('s-attached');
  const reply = items.findLast(({ body }) => body.kind === 'ai');
  const asked = items.find(({ body }) => body.kind === 'human')?.body;
  if (!reply || asked?.kind !== 'human') throw new Error('nothing was said');
  await workspace.past.askAgain('s-attached', reply);
  const calls = (name: string) => host.calls.filter((one) => one.name === name).map(({ value }) => value);
  expect(calls('forkBefore')).toEqual([{ session: 's-attached', item: reply.id }]);
  expect(workspace.sessionId).not.toBe('s-attached');
  expect(calls('sendMessage')).toEqual([
    {
      session: workspace.sessionId,
      text: asked.text,
      attachments: ['red-dot.png', 'report.pdf', 'console.log'].map((name) => ({ name, blob: `kept-${name}` })),
      mentions: [{ mention: 'path', path: '/src/auth/clock.rs' }],
    },
  ]);
  expect(host.snapshot('s-attached').items).toBe(items);
});

it('has what could not be sent in the composer again, with what stood with it', async () => {
  const { workspace, host, client } = await setUp('attachments');
  const { items } = host.snapshot('s-attached');
  const reply = items.findLast(({ body }) => body.kind === 'ai');
  const asked = items.find(({ body }) => body.kind === 'human')?.body;
  if (!reply || asked?.kind !== 'human') throw new Error('nothing was said');
  vi.spyOn(client, 'sendMessage').mockRejectedValue(new Error('no room'));
  await workspace.past.askAgain('s-attached', reply);
  const session = workspace.sessionId ?? '';
  expect(session).not.toBe('s-attached');
  expect(workspace.drafts.of(session)).toBe(asked.text);
  const again = workspace.alongs.of(session).kept();
  const files = asked.attachments.filter(({ kind }) => kind !== 'mention');
  expect(again.files.map(({ blob }) => blob)).toEqual(files.map(({ blob }) => blob));
});

it('sends what a message was changed to from the session it stands in, whatever is looked at meanwhile', async () => {
  const { workspace, host } = await setUp('mock');
  const from = workspace.sessionId ?? '';
  const item = host.snapshot(from).items.find(({ body }) => body.kind === 'human');
  if (!item) throw new Error('nothing was said');
  workspace.past.beginEdit(from, item);
  workspace.edits.change(from, { text: 'Say it shortly' });
  const sent = workspace.past.sendEdit(from);
  // It goes once, as it stood.
  workspace.past.cancelEdit(from);
  void workspace.past.sendEdit(from);
  const other = workspace.sessions.find(({ id, parent }) => id !== from && parent === null);
  if (!other) throw new Error('there is no other session');
  workspace.openSession(other);
  await sent;
  const calls = (name: string) => host.calls.filter((one) => one.name === name).map(({ value }) => value);
  expect(calls('forkBefore')).toEqual([{ session: from, item: item.id }]);
  expect(calls('sendMessage')).toMatchObject([{ text: 'Say it shortly' }]);
  expect(workspace.sessionId).toBe(other.id);
  expect(workspace.edits.of(from)).toBeNull();
});

it('gives back what was changed of a message that was left as it was', async () => {
  const { workspace, host } = await setUp('mock');
  const session = workspace.sessionId ?? '';
  const item = host.snapshot(session).items.find(({ body }) => body.kind === 'human');
  if (!item) throw new Error('nothing was said');
  workspace.past.beginEdit(session, item);
  workspace.past.cancelEdit(session);
  expect(workspace.notes.current).toBeNull();
  workspace.past.beginEdit(session, item);
  workspace.edits.change(session, { text: 'Say it shortly' });
  workspace.past.cancelEdit(session);
  expect(workspace.edits.of(session)).toBeNull();
  await workspace.notes.current?.undo?.();
  expect(workspace.edits.of(session)?.text).toBe('Say it shortly');
});

it('has again after a restart what a message was being changed to, with what stands with it, until it is sent', async () => {
  const begun = await setUp('attachments');
  const session = 's-attached';
  const item = begun.host.snapshot(session).items.find(({ body }) => body.kind === 'human');
  if (!item) throw new Error('nothing was said');
  begun.workspace.past.beginEdit(session, item);
  begun.workspace.edits.change(session, { text: 'Say it shortly' });
  const files = begun.workspace.edits.of(session)?.along.files ?? [];
  expect(files.length).toBeGreaterThan(1);
  begun.workspace.edits.of(session)?.along.remove(files[0]?.id ?? 0);
  window.dispatchEvent(new Event('pagehide'));
  const { workspace } = await setUp('attachments');
  const edit = workspace.edits.of(session);
  expect(edit).toMatchObject({ item: item.id, text: 'Say it shortly', isSending: false, isNew: false });
  expect(edit?.along.files.map(({ name }) => name)).toEqual(files.slice(1).map(({ name }) => name));
  await workspace.past.sendEdit(session);
  expect((await setUp('attachments')).workspace.edits.of(session)).toBeNull();
});

/** A turn with a step, then two messages that were said to it under way, and a reply. */
async function steered() {
  const scene = await setUp('attachments');
  const { host, client, workspace } = scene;
  const session = 's-attached';
  const row = (item: Item) => host.emit(session, { type: 'item_started', item });
  const steer = (text: string) => client.steerTurn({ session, text, attachments: [], mentions: [] });
  await client.sendMessage({ session, text: 'Look at all of it.', attachments: [], mentions: [] });
  host.stop(session);
  row(tool('read_file', { file_path: '/a.rs' }));
  await steer('Mind the tests.');
  await steer('Be brief.');
  const reply = ai('It is fine.');
  row(reply);
  const said = (text: string) => {
    const found = host.snapshot(session).items.find(({ body }) => body.kind === 'human' && body.text === text);
    if (!found) throw new Error(`nobody said ${text}`);
    return found;
  };
  const words = () =>
    host.snapshot(workspace.sessionId ?? '').items.flatMap(({ body }) => (body.kind === 'human' ? [body.text] : []));
  return { ...scene, session, reply, said, words };
}

it('says a message that was said to a turn under way in other words, behind all that was said before it', async () => {
  const { workspace, session, said, words } = await steered();
  const before = words();
  workspace.past.beginEdit(session, said('Be brief.'));
  workspace.edits.change(session, { text: 'Be long.' });
  await workspace.past.sendEdit(session);
  expect(workspace.errors).toEqual([]);
  expect(workspace.sessionId).not.toBe(session);
  expect(words()).toEqual([...before.slice(0, -1), 'Be long.']);
});

it('asks again what was said to the whole turn, from where the turn begins', async () => {
  const { workspace, session, reply, words } = await steered();
  await workspace.past.askAgain(session, reply);
  expect(workspace.errors).toEqual([]);
  expect(words().slice(1)).toEqual(['Look at all of it.\n\nMind the tests.\n\nBe brief.']);
});

it('goes back to before any message, to before the last turn, and says where there is none', async () => {
  const { workspace, host, client, session, said } = await steered();
  const { items } = host.snapshot(session);
  const asks = async (item: string | null) => {
    workspace.dialog = null;
    await workspace.past.rewindTo(item);
    return workspace.dialog as Dialog | null;
  };
  const begun = items.indexOf(said('Look at all of it.'));
  const step = items.findIndex(({ body }) => body.kind === 'tool') + 1;
  expect(await asks(said('Mind the tests.').id)).toEqual({ kind: 'rewind', seq: step });
  expect(await asks(said('Look at all of it.').id)).toEqual({ kind: 'rewind', seq: begun });
  expect(await asks(null)).toEqual({ kind: 'rewind', seq: begun });
  expect(workspace.errors).toEqual([]);
  const empty = await client.createSession('p-harbour', null);
  workspace.openSession(empty);
  expect(await asks(null)).toBeNull();
  expect(workspace.errors.map(({ message }) => message)).toEqual([expect.stringMatching(/nothing has been said/i)]);
});
