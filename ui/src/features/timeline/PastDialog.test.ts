import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import type { Checkpoint, TimelineQuery } from '../../ipc/bindings';
import { ago, checkpoint, NOW } from '../../ipc/recorded/builders';
import { i18n } from '../../shared/i18n/i18n.svelte';
import { draw, setUp } from '../../test/stage';
import PastDialog from './PastDialog.svelte';

const start = (seq: number, label: string) => checkpoint(seq, { row: `${seq}+`, kind: 'turn_start', label });
const PLACES: readonly Checkpoint[] = [
  start(1, 'Move'),
  checkpoint(2, { label: 'Looked' }),
  checkpoint(3, { kind: 'turn_end', at: ago(9) }),
  { ...start(3, 'Clean up'), turn: 2, at: ago(5) },
  checkpoint(4, { label: 'Swept', turn: 2 }),
];

async function show(at: number) {
  const scene = await setUp();
  scene.workspace.openSession(scene.host.snapshot('s-fixtures').session);
  vi.spyOn(scene.client, 'timeline').mockImplementation(async ({ from, before, limit }: TimelineQuery) => {
    const place = (row: string | null) => PLACES.findIndex((one) => one.row === row);
    const end = from === null ? (before === null ? PLACES.length : place(before)) : place(from) + limit;
    const first = from === null ? Math.max(0, end - limit) : place(from);
    const checkpoints = PLACES.slice(first, end);
    return { from: first, total: PLACES.length, checkpoints, ledger: [], can_undo_rewind: false, rewinds: 0 };
  });
  const shown = vi.spyOn(scene.client, 'snapshotAt');
  const place = PLACES[at];
  if (!place) throw new Error('no such place');
  draw(scene, PastDialog, { place, onClose: vi.fn() });
  const titled = (moment: string, at: number) =>
    screen.findByRole('dialog', { name: `As it was · ${moment} · ${i18n.f.date(at)}, ${i18n.f.time(at)}` });
  return { ...scene, titled, seqs: () => shown.mock.calls.map(([, seq]) => seq) };
}

const go = (name: string) => screen.getByRole('button', { name });
const can = (name: string) => waitFor(() => expect(go(name).getAttribute('aria-disabled')).toBe('false'));

it('says which moment is looked at, and goes to those beside it, of which no two are the same place', async () => {
  const { titled, seqs } = await show(1);
  await titled('After “Looked”', NOW);
  await can('Later checkpoint');
  await userEvent.click(go('Later checkpoint'));
  await titled('Before “Clean up”', ago(5));
  await waitFor(() => expect(go('Later checkpoint').title).toBe('Later checkpoint: After “Swept”'));
  await userEvent.keyboard('{Alt>}{ArrowRight}{/Alt}');
  await titled('After “Swept”', NOW);
  await waitFor(() => expect(go('Later checkpoint').getAttribute('aria-disabled')).toBe('true'));
  await userEvent.keyboard('{ArrowLeft}{Alt>}{ArrowRight}{/Alt}');
  expect(document.activeElement).toBe(go('Later checkpoint'));
  await userEvent.keyboard('{Alt>}{ArrowLeft}{/Alt}');
  await titled('Before “Clean up”', ago(5));
  await waitFor(() => expect(go('Earlier checkpoint').title).toBe('Earlier checkpoint: After “Looked”'));
  expect(seqs()).toEqual([2, 3, 4, 3]);
});

it('is at the end of a turn where that was asked for, and goes back to the place that is shown', async () => {
  const { titled, workspace } = await show(2);
  await titled('End of turn 1', ago(9));
  await can('Earlier checkpoint');
  await userEvent.click(go('Earlier checkpoint'));
  await titled('After “Looked”', NOW);
  await userEvent.click(go('Rewind to here…'));
  expect(workspace.dialog).toEqual({ kind: 'rewind', seq: 2 });
});
