import { flushSync } from 'svelte';
import { expect, it, vi } from 'vitest';
import userEvent from '@testing-library/user-event';
import { screen } from '@testing-library/svelte';
import { answerKey, newTodoKey, queuedKey } from '../../app/unsent.svelte';
import type { Snapshot } from '../../ipc/bindings';
import { approval } from '../../ipc/recorded/builders';
import { draw, setUp } from '../../test/stage';
import SessionView from './SessionView.svelte';

const begun = (text: string) => ({ form: 'reject', text, edits: null });

/** The centre over a session whose news are told by hand. */
async function centre() {
  const scene = await setUp();
  const { workspace } = scene;
  const session = workspace.session;
  if (!session) throw new Error('no session is open');
  const feed = workspace.feeds.peek(session.id);
  await vi.waitFor(() => expect(feed.snapshot?.session.id).toBe(session.id));
  const first = feed.snapshot as Snapshot;
  const tell = (news: Partial<Snapshot>) => flushSync(() => (feed.snapshot = { ...first, ...news }));
  return { ...scene, session, feed, first, tell, unsent: workspace.unsent };
}

it('forgets an answer whose request is gone, from memory too, and not before it knows what waits', async () => {
  const { session, feed, tell, unsent, ...scene } = await centre();
  const asked = { ...approval('execute', { command: 'ls' }), session: session.id };
  const [key, other] = [answerKey(asked), answerKey({ ...asked, session: 's-other' })];
  for (const one of [key, other]) await unsent.putUnlessSecret(one, begun('sk-12345678'), async () => true);
  const there = () => [key, other].filter((one) => unsent.keysOf('').includes(one));
  tell({ approvals: [asked] });
  draw(scene, SessionView, { session, feed });
  expect(there()).toEqual([key, other]);
  // The end of a long session is shown before its journal was read.
  tell({ approvals: [], seq: 0 });
  expect(there()).toEqual([key, other]);
  tell({ approvals: [] });
  expect(there()).toEqual([other]);
});

it('forgets an answer to a subagent of the session with its request, and what else is written there stays', async () => {
  const { session, feed, first, tell, unsent, ...scene } = await centre();
  const [main] = first.agents;
  if (!main) throw new Error('no agent');
  const child = { ...main, session: 's-child' };
  const asked = { ...approval('execute', { command: 'ls' }), session: 's-child' };
  unsent.put(answerKey(asked), begun('half a sen'));
  unsent.put(newTodoKey(session.id), 'one more');
  tell({ agents: [main, child], approvals: [asked] });
  draw(scene, SessionView, { session, feed });
  expect(unsent.keysOf('answer:')).toHaveLength(1);
  tell({ agents: [main, child], approvals: [] });
  expect([unsent.keysOf('answer:'), unsent.words(newTodoKey(session.id))]).toEqual([[], 'one more']);
});

it('puts words for a message that left the queue into the message box, and none that are on their way to it', async () => {
  const { session, feed, tell, unsent, ...scene } = await centre();
  const { workspace, client } = scene;
  const key = queuedKey(session.id, 'm1');
  const queue = [{ id: 'm1', text: 'waits', attachments: [] }];
  let answer: (isTaken: boolean) => void = () => undefined;
  vi.spyOn(client, 'editQueued').mockImplementation(
    () => new Promise((resolve, reject) => (answer = (isTaken) => (isTaken ? resolve() : reject(new Error('no'))))),
  );
  unsent.put(key, 'said better');
  tell({ queue, approvals: [] });
  draw(scene, SessionView, { session, feed });
  const box = () => workspace.drafts.of(session.id);
  const send = async () => {
    screen.getByDisplayValue('said better').focus();
    await userEvent.keyboard('{Enter}');
  };
  // The message is sent with them before it is said that they were taken.
  await send();
  tell({ queue: [], approvals: [] });
  expect([box(), unsent.words(key)]).toEqual(['', 'said better']);
  answer(true);
  await vi.waitFor(() => expect(unsent.words(key)).toBeNull());
  expect(box()).toBe('');

  // It is sent as it was.
  unsent.put(key, 'said better');
  tell({ queue, approvals: [] });
  await vi.waitFor(() => expect(screen.getByDisplayValue('said better')).toBeTruthy());
  await send();
  tell({ queue: [], approvals: [], seq: 0 });
  answer(false);
  await vi.waitFor(() => expect(workspace.errors).toHaveLength(1));
  expect(box()).toBe('');
  tell({ queue: [], approvals: [] });
  expect([box(), unsent.words(key)]).toEqual(['said better', null]);
  expect(workspace.notes.current?.text).toContain('left the queue');
});
