import { expect, it } from 'vitest';
import { setUp } from '../test/stage';
import { answerKey, newTodoKey, queuedKey, todoKey, Unsent } from './unsent.svelte';

const restart = () => window.dispatchEvent(new Event('pagehide'));

it('is there again after a restart, until it is sent or given up', () => {
  const first = new Unsent();
  first.put(todoKey('s1', 't1'), 'other words');
  first.put(newTodoKey('s1'), 'one more');
  restart();
  const second = new Unsent();
  expect([second.words(todoKey('s1', 't1')), second.words(todoKey('s2', 't1'))]).toEqual(['other words', null]);
  // What was sent is gone at once: a page may go the moment after.
  second.forget(todoKey('s1', 't1'));
  expect(new Unsent().words(todoKey('s1', 't1'))).toBeNull();
  expect(new Unsent().words(newTodoKey('s1'))).toBe('one more');
});

it('is nothing that is not as it is written today', () => {
  const key = answerKey({ session: 's1', call_id: 'c1', digest: 'd' });
  localStorage.setItem('bosun.unsent', JSON.stringify({ [key]: '{"form":', 'edit:s1': '7' }));
  expect([new Unsent().words(key), new Unsent().words('edit:s1')]).toEqual([null, null]);
});

it('is bounded, and goes with its session', () => {
  const unsent = new Unsent();
  for (let at = 0; at < 60; at++) unsent.put(queuedKey('s1', `m${at}`), 'text');
  restart();
  expect(new Unsent().keysOf(queuedKey('s1', ''))).toHaveLength(50);
  unsent.put(todoKey('s2', 't1'), 'kept');
  unsent.keepOnly(['s2']);
  expect([new Unsent().keysOf('queued:'), new Unsent().words(todoKey('s2', 't1'))]).toEqual([[], 'kept']);
});

it('as an answer to a subagent stays over the start: it asks in a session that no list has', () => {
  const unsent = new Unsent();
  const key = answerKey({ session: 's-child', call_id: 'c1', digest: 'd' });
  unsent.put(key, 'half a reason');
  restart();
  const next = new Unsent();
  next.keepOnly(['s-root']);
  expect(new Unsent().words(key)).toBe('half a reason');
  next.keepAnswers(['s-root', 's-child'], []);
  expect(new Unsent().words(key)).toBeNull();
});

it('of sessions that are gone is forgotten at the start, and kept of those that are there', async () => {
  const unsent = new Unsent();
  unsent.put(todoKey('s-refresh', 't1'), 'kept');
  unsent.put(todoKey('s-nobody', 't1'), 'gone');
  restart();
  const { workspace } = await setUp();
  const { unsent: there } = workspace;
  expect([there.words(todoKey('s-refresh', 't1')), there.words(todoKey('s-nobody', 't1'))]).toEqual(['kept', null]);
});

it('words for a message that left the queue as it was stand in the message box', async () => {
  const { workspace } = await setUp();
  const session = workspace.sessionId ?? '';
  workspace.unsent.put(queuedKey(session, 'm1'), 'said better');
  workspace.unsent.put(queuedKey(session, 'm2'), 'still waiting');
  workspace.sending.keepWords(session, [{ id: 'm2', text: 'waits', attachments: [] }]);
  expect([workspace.drafts.of(session), workspace.unsent.keysOf(queuedKey(session, ''))]).toEqual([
    'said better',
    ['m2'],
  ]);
  expect(workspace.notes.current?.text).toContain('left the queue');
});

it('is not stored before it is known to be no secret, and is there meanwhile', async () => {
  const unsent = new Unsent();
  const key = answerKey({ session: 's1', call_id: 'c1', digest: 'd' });
  await unsent.putUnlessSecret(key, 'plain', async () => false);
  restart();
  const stored = () => localStorage.getItem('bosun.unsent') ?? '';
  expect(stored()).toContain('plain');
  const asked = unsent.putUnlessSecret(key, 'sk-secret', async () => true);
  expect(unsent.words(key)).toBe('sk-secret');
  await asked;
  restart();
  expect([unsent.words(key), stored()]).toEqual(['sk-secret', '{}']);
  // What was sent while it was asked about does not come back.
  const late = unsent.putUnlessSecret(key, 'plain again', async () => false);
  unsent.forget(key);
  await late;
  expect(unsent.words(key)).toBeNull();
});

it('is forgotten where it was taken, though it was found to be no secret meanwhile', async () => {
  const unsent = new Unsent();
  const key = todoKey('s1', 't1');
  let say: (mayNot: boolean) => void = () => undefined;
  const looked = unsent.putUnlessSecret(key, 'plain', () => new Promise((resolve) => (say = resolve)));
  const taken = unsent.give(key, async () => {
    say(false);
    await looked;
    return true;
  });
  expect([await taken, unsent.words(key)]).toEqual([true, null]);
});

it('is no answer to a request that is gone; other sessions keep theirs', () => {
  const unsent = new Unsent();
  const [open, gone, other] = [
    { session: 's1', call_id: 'c1', digest: 'd' },
    { session: 's1-sub', call_id: 'c2', digest: 'd' },
    { session: 's2', call_id: 'c3', digest: 'd' },
  ] as const;
  for (const one of [open, gone, other]) unsent.put(answerKey(one), 'half a sen');
  unsent.put(newTodoKey('s1'), 'one more');
  unsent.keepAnswers(['s1', 's1-sub'], [open]);
  expect([open, gone, other].map((one) => unsent.words(answerKey(one)))).toEqual(['half a sen', null, 'half a sen']);
  expect(unsent.words(newTodoKey('s1'))).toBe('one more');
});
