import { expect, it, vi } from 'vitest';
import { setUp } from '../test/stage';

it('asks the same again in a session of its own, with what stood with it', async () => {
  const { workspace, host } = await setUp('attachments');
  const { items } = host.snapshot('s-attached');
  const reply = items.findLast(({ body }) => body.kind === 'ai');
  const asked = items.find(({ body }) => body.kind === 'human')?.body;
  if (!reply || asked?.kind !== 'human') throw new Error('nothing was said');
  await workspace.past.askAgain('s-attached', items, reply);
  const calls = (name: string) => host.calls.filter((one) => one.name === name).map(({ value }) => value);
  expect(calls('forkSession')).toEqual([{ session: 's-attached', seq: 0 }]);
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
  await workspace.past.askAgain('s-attached', items, reply);
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
  expect(calls('forkSession')).toMatchObject([{ session: from }]);
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
