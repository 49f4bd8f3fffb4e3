import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import type { RestoredFile, RewindPreview } from '../../ipc/bindings';
import { draw, setUp } from '../../test/stage';
import RewindDialog from './RewindDialog.svelte';

const restored = (path: string): RestoredFile => ({ path, change: 'changed', added: 1, removed: 2, problem: null });
const inTheWay = (path: string): RestoredFile => ({ ...restored(path), problem: { problem: 'changed_since', path } });

async function show(given: Partial<RewindPreview>) {
  const scene = await setUp();
  scene.workspace.openSession(scene.host.snapshot('s-fixtures').session);
  const preview = { seq: 1, rows: 4, files: [], unkept: [], ...given };
  vi.spyOn(scene.client, 'previewRewind').mockResolvedValue(preview);
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
  expect(rewind).toHaveBeenCalledWith('s-fixtures', 1, 'both');
});

it('does not go back over a file that was changed since', async () => {
  const { go, row } = await show({ files: [restored('/a.txt'), inTheWay('/b.txt')] });
  expect(row('b.txt')).toMatch(/in the way/);
  expect(go.disabled).toBe(true);
});
