import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import SessionView from '../features/session/SessionView.svelte';
import { draw, setUp } from '../test/stage';

it('puts a first message that is refused back where it was written, and makes one session of all tries', async () => {
  const scene = await setUp();
  const { workspace, client } = scene;
  workspace.newSession();
  const { findByRole, redraw } = draw(scene, SessionView, { session: null, feed: null });
  const refused = { code: 'not_found', message: 'the folder is gone' };
  const send = vi.spyOn(client, 'sendMessage').mockRejectedValueOnce(refused);
  const create = vi.spyOn(client, 'createSession');
  const before = workspace.draftKey;
  await userEvent.type(await findByRole('textbox', { name: 'Message' }), 'Mend the roof{Enter}');
  await vi.waitFor(() => expect(workspace.errors).toHaveLength(1));
  expect([workspace.sessionId, workspace.draftKey]).toEqual([null, before]);
  expect(workspace.drafts.of(before)).toBe('Mend the roof');
  await redraw({ session: null, feed: null });
  expect(await findByRole('textbox', { name: 'Message' })).toHaveProperty('value', 'Mend the roof');

  await userEvent.type(await findByRole('textbox', { name: 'Message' }), '{Enter}');
  await vi.waitFor(() => expect(workspace.sessionId).not.toBeNull());
  await vi.waitFor(() => expect(send).toHaveBeenCalledTimes(2));
  expect([create.mock.calls.length, send.mock.calls[1]?.[0].session]).toEqual([1, workspace.sessionId]);
  await vi.waitFor(() => expect(JSON.parse(localStorage.getItem('bosun.drafts') ?? '{}')).not.toHaveProperty(before));
});

it('forgets what was written in a session that is deleted, and brings it back with it', async () => {
  const { workspace } = await setUp();
  const session = workspace.sessions.find(({ parent }) => parent === null);
  if (!session) throw new Error('no session');
  workspace.drafts.write(session.id, 'half a thought');
  await workspace.bin.delete(session);
  expect(workspace.drafts.of(session.id)).toBe('');
  await workspace.note?.undo?.();
  expect(workspace.drafts.of(session.id)).toBe('half a thought');
  workspace.drafts.write(`new:${session.project}`, 'another');
  await workspace.forgetProject(session.project);
  expect([workspace.drafts.of(session.id), workspace.drafts.of(`new:${session.project}`)]).toEqual(['', '']);
});
