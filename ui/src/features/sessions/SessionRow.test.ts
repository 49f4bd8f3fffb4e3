import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { draw, setUp } from '../../test/stage';
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
  // The list is drawn anew, as when the session goes to another part of it.
  unmount();
  draw({ workspace, ...scene }, SessionRow, { session, detail: '' });
  expect([field()?.value, screen.getByRole('alert').textContent]).toEqual(['A better title', said.textContent]);
  // What is typed next is typed behind it, and not in its place.
  await userEvent.keyboard(' yet{Enter}');
  await waitFor(() => expect(field()).toBeNull());
  expect(rename.mock.calls).toEqual([
    [session.id, 'A better title'],
    [session.id, 'A better title yet'],
  ]);
  expect(screen.queryByRole('alert')).toBeNull();
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
