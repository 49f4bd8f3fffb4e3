import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { expect, it, vi } from 'vitest';
import { draw, setUp } from '../../test/stage';
import SessionList from './SessionList.svelte';
import SessionRow from './SessionRow.svelte';

const field = () => screen.queryByRole<HTMLInputElement>('textbox', { name: 'Title of the session' });

async function renaming() {
  const scene = await setUp();
  const session = scene.workspace.session;
  if (!session) throw new Error('no session is open');
  const rename = vi.spyOn(scene.client, 'renameSession');
  scene.workspace.renaming.begin(session.id);
  const drawn = draw(scene, SessionRow, { session, detail: '' });
  await waitFor(() => expect(document.activeElement).toBe(field()));
  return { ...scene, ...drawn, session, rename };
}

it('leaves a title that is refused in its field with the reason, until it is taken', async () => {
  const { workspace, session, rename, unmount, ...scene } = await renaming();
  rename.mockRejectedValueOnce({ code: 'invalid', message: '', problem: { problem: 'disk_full' } });
  await userEvent.keyboard('A better title{Enter}');
  const said = await screen.findByRole('alert');
  expect(said.textContent).toContain('The disk is full');
  expect([field()?.value, field()?.readOnly, workspace.errors]).toEqual(['A better title', false, []]);
  const described = () => document.getElementById(field()?.getAttribute('aria-describedby') ?? '')?.textContent;
  expect([field()?.getAttribute('aria-invalid'), described()]).toEqual(['true', said.textContent]);
  // The list is drawn anew, as when the session goes to another part of it.
  unmount();
  draw({ workspace, ...scene }, SessionRow, { session, detail: '' });
  expect([field()?.value, described()]).toEqual(['A better title', said.textContent]);
  // It was read out already.
  expect(screen.queryByRole('alert')).toBeNull();
  // What is typed next is typed behind it, and not in its place.
  await userEvent.keyboard(' yet{Enter}');
  await waitFor(() => expect(field()).toBeNull());
  expect(rename.mock.calls).toEqual([
    [session.id, 'A better title'],
    [session.id, 'A better title yet'],
  ]);
  expect(document.querySelector('.refused')).toBeNull();
});

it('takes the keys from nobody who writes elsewhere when its row comes into sight again', async () => {
  const { unmount, session, ...scene } = await renaming();
  await userEvent.keyboard('A better');
  const elsewhere = document.body.appendChild(document.createElement('textarea'));
  unmount();
  elsewhere.focus();
  const again = draw(scene, SessionRow, { session, detail: '' });
  await userEvent.keyboard('on');
  expect([elsewhere.value, field()?.value]).toEqual(['on', 'A better']);
  // Asked for again it has them, and where nobody has them.
  scene.workspace.renaming.begin(session.id);
  await waitFor(() => expect(document.activeElement).toBe(field()));
  again.unmount();
  elsewhere.remove();
  draw(scene, SessionRow, { session, detail: '' });
  expect(document.activeElement).toBe(field());
});

it('loses nothing that is written while the title before it is on its way, and sends that once', async () => {
  const { unmount, session, rename, workspace, ...scene } = await renaming();
  let answer: () => void = () => undefined;
  rename.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
  await userEvent.keyboard('A better title{Enter}');
  unmount();
  draw({ workspace, ...scene }, SessionRow, { session, detail: '' });
  expect([field()?.value, field()?.readOnly]).toEqual(['A better title', true]);
  await userEvent.keyboard('{Enter}{Escape}');
  expect([field()?.value, rename.mock.calls.length]).toEqual(['A better title', 1]);
  workspace.renaming.write(session.id, 'A better title yet');
  answer();
  await waitFor(() => expect([field()?.value, field()?.readOnly]).toEqual(['A better title yet', false]));
});

it('opens the part of the archive once for a title that is changed in it', async () => {
  const scene = await setUp();
  const { workspace } = scene;
  const id = workspace.sessionId ?? '';
  const news = () =>
    workspace.sessionsChanged(
      workspace.sessions.map((one) => (one.id === id ? { ...one, archived: true, status: 'idle' as const } : one)),
    );
  news();
  draw(scene, SessionList, {});
  const part = screen.getByRole('button', { name: /Archived/i });
  const isOpen = () => part.getAttribute('aria-expanded');
  expect(isOpen()).toBe('false');
  workspace.renaming.begin(id);
  await waitFor(() => expect(isOpen()).toBe('true'));
  workspace.renaming.write(id, 'A better');
  await userEvent.click(part);
  news();
  await tick();
  expect(isOpen()).toBe('false');
  workspace.renaming.begin(id);
  await waitFor(() => expect(isOpen()).toBe('true'));
});

it('asks for nothing where the title is given up, and tells of a refusal where the list is out of sight', async () => {
  const { workspace, session, rename } = await renaming();
  await userEvent.keyboard('A better title{Escape}');
  await waitFor(() => expect(field()).toBeNull());
  expect(rename).not.toHaveBeenCalled();
  workspace.renaming.begin(session.id);
  await waitFor(() => expect(field()?.value).toBe(session.title));
  rename.mockRejectedValueOnce({ code: 'invalid', message: '', problem: { problem: 'disk_full' } });
  workspace.layout.sidebarOpen = false;
  await userEvent.keyboard('Another{Enter}');
  await waitFor(() => expect(workspace.errors).toHaveLength(1));
  expect(field()?.value).toBe('Another');
});
