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

/** A window in which the first message of a new session is refused once. */
async function refusing() {
  const scene = await setUp();
  const { workspace, client, host } = scene;
  workspace.newSession();
  const send = vi.spyOn(client, 'sendMessage').mockRejectedValueOnce(new Error('no room'));
  const create = vi.spyOn(client, 'createSession');
  const mode = vi.spyOn(client, 'setSessionMode');
  const project = workspace.projectId ?? '';
  const other = workspace.projects.find(({ id }) => id !== project)?.id ?? '';
  return { workspace, client, host, send, create, mode, project, other };
}

it('tries a first message again in the mode that is shown', async () => {
  const { workspace, mode, project, other } = await refusing();
  await workspace.modes.choose('edits');
  expect(await workspace.sending.send('Mend the roof')).toBe(false);
  const [session] = mode.mock.calls.at(-1) ?? [];
  // What is chosen in another project meanwhile is that one's.
  workspace.enterProject(other);
  workspace.newSession();
  await workspace.modes.choose('plan_only');
  workspace.enterProject(project);
  workspace.newSession();
  expect(workspace.modes.current).toBe('edits');
  await workspace.modes.chooseFor(project, 'plan_only');
  await workspace.modes.choose('ask');
  expect(await workspace.sending.send('Mend the roof')).toBe(true);
  expect([mode.mock.calls.at(-1), workspace.modes.current]).toEqual([[session, 'ask'], 'ask']);
  workspace.newSession();
  expect(workspace.modes.current, 'it was chosen for one session').toBe('plan_only');
  workspace.enterProject(other);
  workspace.newSession();
  expect(workspace.modes.current, 'nothing was begun there').toBe('plan_only');
});

it('tries a first message again in the mode that is the project’s by then', async () => {
  const { workspace, mode, project } = await refusing();
  expect(await workspace.sending.send('Mend the roof')).toBe(false);
  await workspace.modes.chooseFor(project, 'plan_only');
  expect(workspace.modes.current).toBe('plan_only');
  expect(await workspace.sending.send('Mend the roof')).toBe(true);
  expect(mode.mock.calls).toEqual([[workspace.sessionId, 'plan_only']]);
});

it('tries a first message again in no session that has a conversation by then', async () => {
  const { workspace, send, create } = await refusing();
  expect(await workspace.sending.send('Mend the roof')).toBe(false);
  const begun = workspace.sessions.find(({ id }) => id === send.mock.calls[0]?.[0].session);
  if (!begun) throw new Error('none was made');
  workspace.openSession(begun);
  expect(await workspace.sending.send('Paint the door')).toBe(true);
  workspace.newSession();
  expect(await workspace.sending.send('Mend the roof')).toBe(true);
  const sessions = send.mock.calls.map(([{ session }]) => session);
  expect([create.mock.calls.length, sessions[1], sessions[2] === begun.id]).toEqual([2, begun.id, false]);
});

it('makes no second session where the first could not be given its mode', async () => {
  const { workspace, client, create, mode } = await refusing();
  await workspace.modes.choose('edits');
  mode.mockRejectedValueOnce(new Error('no room'));
  vi.mocked(client.sendMessage).mockReset();
  const sent = vi.spyOn(client, 'sendMessage').mockResolvedValue(undefined as never);
  expect([await workspace.sending.send('Mend the roof'), sent.mock.calls.length]).toEqual([false, 0]);
  expect(await workspace.sending.send('Mend the roof')).toBe(true);
  expect(create).toHaveBeenCalledTimes(1);
});

it('tries again in the session of each project, whichever was tried last', async () => {
  const { workspace, send, create, project, other } = await refusing();
  send.mockRejectedValueOnce(new Error('no room'));
  expect(await workspace.sending.send('Mend the roof')).toBe(false);
  workspace.enterProject(other);
  workspace.newSession();
  expect(await workspace.sending.send('Paint the door')).toBe(false);
  workspace.enterProject(project);
  workspace.newSession();
  expect(await workspace.sending.send('Mend the roof')).toBe(true);
  expect([create.mock.calls.length, workspace.sessionId]).toEqual([2, send.mock.calls[0]?.[0].session]);
});

it('no longer says that a folder cannot be used once another is a project', async () => {
  const { workspace } = await setUp();
  const [project] = workspace.projects;
  if (!project) throw new Error('no project');
  workspace.fail({ code: 'project_unusable', message: '', problem: null } as never);
  workspace.fail({ code: 'provider', message: '', problem: null } as never);
  workspace.addProject(project);
  expect(workspace.errors.map(({ code }) => code)).toEqual(['provider']);
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

it('takes what went wrong away with the next success of the same thing, and of nothing else', async () => {
  const { workspace, client } = await setUp();
  const [one, two] = workspace.sessions.map(({ id }) => id);
  if (!one || !two) throw new Error('too few sessions');
  const refused = { code: 'provider', message: 'no such session', problem: null };
  vi.spyOn(client, 'stopTurn').mockRejectedValueOnce(refused).mockResolvedValue(undefined);
  const stop = (session: string) => workspace.run(() => workspace.client.stopTurn(session));
  await stop(one);
  const codes = () => workspace.errors.map(({ code }) => code);
  expect(codes()).toEqual(['provider']);
  await workspace.run(() => workspace.client.listProviders());
  await stop(two);
  expect(codes(), 'other requests, and other sessions').toEqual(['provider']);
  await stop(one);
  await vi.waitFor(() => expect(codes()).toEqual([]));
});

it('has all that left the queue again, and begins no turn by that', async () => {
  const { workspace, host, client } = await setUp('live');
  const session = workspace.sessionId ?? '';
  for (const text of ['one', 'two']) await client.sendMessage({ session, text });
  const texts = () => host.snapshot(session).queue.map(({ text }) => text);
  for (const message of host.snapshot(session).queue) await workspace.sending.unqueue(session, message);
  expect(texts()).toEqual([]);
  await workspace.notes.current?.undo?.();
  expect(texts()).toEqual(['one', 'two']);
  for (const message of host.snapshot(session).queue) await workspace.sending.unqueue(session, message);
  workspace.sessions = workspace.sessions.map((one) => (one.id === session ? { ...one, status: 'idle' } : one));
  await workspace.notes.current?.undo?.();
  expect(texts()).toEqual([]);
  expect(workspace.drafts.of(session)).toBe('one\ntwo');
});
