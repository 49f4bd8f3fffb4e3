import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import type { RestoredFile, RewindPreview } from '../../ipc/bindings';
import { ago, checkpoint, diff } from '../../ipc/recorded/builders';
import { i18n } from '../../shared/i18n/i18n.svelte';
import { draw, setUp } from '../../test/stage';
import RewindDialog from './RewindDialog.svelte';

const restored = (path: string): RestoredFile => ({ path, change: 'changed', added: 1, removed: 2, problem: null });
const inTheWay = (path: string): RestoredFile => ({ ...restored(path), problem: { problem: 'changed_since', path } });

const PREVIEW: RewindPreview = { place: checkpoint(1), rows: 4, first: null, files: [], unkept: [] };

async function show(given: Partial<RewindPreview>) {
  const scene = await setUp();
  scene.workspace.openSession(scene.host.snapshot('s-fixtures').session);
  vi.spyOn(scene.client, 'previewRewind').mockResolvedValue({ ...PREVIEW, ...given });
  const rewind = vi.spyOn(scene.client, 'rewind');
  draw(scene, RewindDialog, { seq: 1, onClose: vi.fn() });
  const go = await screen.findByRole<HTMLButtonElement>('button', { name: 'Rewind' });
  const row = (path: string) =>
    screen.getAllByRole('listitem').find((one) => one.textContent.includes(path))?.textContent;
  return { ...scene, rewind, go, row };
}

it('goes back over a file that nobody kept, which is named and stays', async () => {
  const { go, row, rewind } = await show({ files: [restored('/a.txt')], unkept: ['/big.bin'] });
  expect(screen.getByText('1 file would be restored:')).toBeTruthy();
  expect(row('big.bin')).toMatch(/stays as it is.*its earlier content was not kept/s);
  await userEvent.click(go);
  expect(rewind).toHaveBeenCalledWith('s-fixtures', 1, 'both', []);
});

it('does not go back over a file that was changed since', async () => {
  const { go, row } = await show({ files: [restored('/a.txt'), inTheWay('/b.txt')] });
  expect(row('b.txt')).toMatch(/in the way/);
  expect(go.disabled).toBe(true);
});

it('leaves what stands in the way where the person says so, and goes back over the others', async () => {
  const { client, go, row, rewind } = await show({
    files: [restored('/a.txt'), inTheWay('/b.txt'), restored('/c.txt')],
  });
  await userEvent.click(screen.getByRole('button', { name: 'Leave it, rewind the other 2' }));
  expect(document.activeElement).toBe(go);
  expect(row('b.txt')).toMatch(/stays as it is/);
  expect(screen.getByText('2 files would be restored:')).toBeTruthy();

  // Another file was changed in the meantime: that one was not spoken of.
  const files = [inTheWay('/a.txt'), inTheWay('/b.txt'), restored('/c.txt')];
  vi.mocked(client.previewRewind).mockResolvedValue({ ...PREVIEW, files });
  rewind.mockRejectedValueOnce({ code: 'invalid', message: '', problem: { problem: 'changed_since', path: '/a.txt' } });
  await userEvent.click(go);
  await screen.findByRole('alert');
  expect(row('a.txt')).toMatch(/in the way/);
  expect(row('b.txt')).toMatch(/stays as it is/);
  await userEvent.click(screen.getByRole('button', { name: 'Leave it, rewind the other 1' }));
  await userEvent.keyboard('{Enter}');
  expect(rewind.mock.calls.map(([, , what, leave]) => [what, leave])).toEqual([
    ['both', ['/b.txt']],
    ['both', ['/b.txt', '/a.txt']],
  ]);
});

it('has the conversation to go back to where every file is in the way', async () => {
  const { go, rewind } = await show({ files: [inTheWay('/b.txt')] });
  expect(screen.queryByRole('button', { name: /^Leave/ })).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Rewind the conversation alone' }));
  await userEvent.click(go);
  expect(rewind).toHaveBeenCalledWith('s-fixtures', 1, 'conversation', []);
});

it('names the moment that it goes back to, and the first message that goes', async () => {
  const place = checkpoint(1, { kind: 'turn_start', label: 'Clean up', at: ago(5) });
  await show({ place, first: 'Clean up' });
  const when = `${i18n.f.date(place.at)}, ${i18n.f.time(place.at)}`;
  expect(screen.getByRole('dialog', { name: `Rewind · Before “Clean up” · ${when}` })).toBeTruthy();
  expect(screen.getByText(/^4 rows .* would be removed, with your messages from “Clean up” on\.$/)).toBeTruthy();
});

it('shows of a file what would change in it, also of one that stands in the way', async () => {
  const { client, row } = await show({ files: [restored('/a.txt'), inTheWay('/b.txt')], unkept: ['/big.bin'] });
  const asked = vi.spyOn(client, 'previewRewindFile').mockResolvedValue(diff('/b.txt', '', 1, '-mine\n+as it was'));
  const button = screen.getByRole('button', { name: /^b\.txt/ });
  await userEvent.click(button);
  expect(asked).toHaveBeenCalledWith('s-fixtures', 1, '/b.txt');
  await screen.findByText('as it was', { selector: '.added *' });
  expect([button.getAttribute('aria-expanded'), row('a.txt')?.includes('mine')]).toEqual(['true', false]);
  await userEvent.click(button);
  expect(screen.queryByText('as it was', { selector: '.added *' })).toBeNull();
  expect(screen.queryByRole('button', { name: /^big/ })).toBeNull();
});
