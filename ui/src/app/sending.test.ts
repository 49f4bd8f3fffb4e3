import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import SessionView from '../features/session/SessionView.svelte';
import { draw, setUp } from '../test/stage';
import { Workspace } from './workspace.svelte';

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

it('has what was written in a session as long as there is one: deleted, or of a project off the list', async () => {
  const { workspace, client } = await setUp();
  const session = workspace.sessions.find(({ parent }) => parent === null);
  if (!session) throw new Error('no session');
  workspace.drafts.write(session.id, 'half a thought');
  workspace.drafts.write('purged', 'nobody comes back to it');
  workspace.drafts.write(`new:${session.project}`, 'another');
  await workspace.bin.delete(session);
  await workspace.forgetProject(session.project);
  workspace.drafts.keep();
  const again = new Workspace(client, await client.start());
  await again.load();
  expect(again.bin.sessions.map(({ id }) => id)).toContain(session.id);
  const keys = [session.id, 'purged', `new:${session.project}`];
  expect(keys.map((key) => again.drafts.of(key))).toEqual(['half a thought', '', '']);
});
