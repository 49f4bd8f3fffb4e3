import { screen, waitFor } from '@testing-library/svelte';
import { tick } from 'svelte';
import { expect, it, vi } from 'vitest';
import { draw, setUp } from '../../test/stage';
import SessionList from './SessionList.svelte';

const rows = () => screen.getAllByRole('listitem');
const rowOf = (title: RegExp) => {
  const found = rows()
    .find(({ textContent }) => title.test(textContent))
    ?.querySelector('button');
  if (!found) throw new Error(`there is no row ${title.source}`);
  return found;
};

it('draws few of thousands, among them the first, the last and the one that is open', async () => {
  const scene = await setUp('many');
  const { workspace } = scene;
  draw(scene, SessionList, {});
  await tick();
  expect(rows().length).toBeLessThan(60);
  const middle = workspace.sessions.find(({ id }) => id === 's-2000');
  if (!middle) throw new Error('there is no such session');
  workspace.openSession(middle);
  await waitFor(() => expect(rowOf(/ 2000/).getAttribute('aria-current')).toBe('page'));
  // The oldest, and the neighbours of the one that is open.
  for (const title of [/ 4998/, / 1998/, / 2001|2002/]) expect(rowOf(title)).toBeTruthy();
  expect(rows().length).toBeLessThan(60);
});

it.each([
  ['keeps its row while another window has the keys', false],
  ['leaves its row to who pressed beside it', true],
])('%s', async (_what, isInWindow) => {
  const scene = await setUp('many');
  const { workspace } = scene;
  draw(scene, SessionList, {});
  await tick();
  const row = rowOf(/ 4998/);
  row.focus();
  await tick();
  vi.spyOn(document, 'hasFocus').mockReturnValue(isInWindow);
  row.blur();
  await tick();
  expect(document.activeElement).toBe(document.body);
  workspace.sessionsChanged(
    workspace.sessions.map((one) => (one.id === 's-4998' ? { ...one, status: 'running' as const } : one)),
  );
  await tick();
  await tick();
  const { activeElement } = document;
  if (isInWindow) expect(activeElement).toBe(document.body);
  else expect(activeElement?.textContent).toMatch(/ 4998/);
});

it('keeps the keys on a row that goes to another section', async () => {
  const scene = await setUp('many');
  const { workspace } = scene;
  draw(scene, SessionList, {});
  await tick();
  const focused = () => document.activeElement?.textContent;
  rowOf(/ 4998/).focus();
  for (const status of ['running', 'waiting', 'idle'] as const) {
    workspace.sessionsChanged(
      workspace.sessions.map((one) => (one.id === 's-4998' ? { ...one, status, updated_at: one.updated_at + 1 } : one)),
    );
    await tick();
    await tick();
    expect(focused()).toMatch(/ 4998/);
  }
  expect(rows().length).toBeLessThan(60);
});
