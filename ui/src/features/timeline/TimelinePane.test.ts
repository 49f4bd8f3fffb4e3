import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import type { TimelinePage, TimelineQuery } from '../../ipc/bindings';
import { checkpoint } from '../../ipc/recorded/builders';
import { draw, setUp } from '../../test/stage';
import TimelinePane from './TimelinePane.svelte';

/** Two places of many, or those from one on. */
async function page({ from: row, before }: TimelineQuery): Promise<TimelinePage> {
  const end = row !== null || before === null ? 5_302 : Number(before);
  const from = row === null ? end - 2 : Number(row);
  const checkpoints = Array.from({ length: end - from }, (_, at) => checkpoint(from + at));
  return { from, total: 5_302, checkpoints, ledger: [], can_undo_rewind: false, rewinds: 0 };
}

it('says how many a click shows, and stays where something cannot be fetched, which is said at its place', async () => {
  const scene = await setUp();
  const asked = vi.spyOn(scene.client, 'timeline').mockImplementation(page);
  const snapshot = scene.host.snapshot(scene.workspace.sessionId ?? '');
  const { container, redraw } = draw(scene, TimelinePane, { snapshot });
  const places = () => container.querySelectorAll('.place').length;
  const again = async () => {
    asked.mockImplementation(page);
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    await waitFor(() => expect(screen.queryByRole('alert')).toBeNull());
  };
  const more = await screen.findByRole('button', { name: 'Show 100 of 5,300 earlier entries' });

  asked.mockRejectedValue(new Error('locked'));
  await userEvent.click(more);
  let alert = await screen.findByRole('alert');
  expect([places(), alert.previousElementSibling?.tagName, more.isConnected]).toEqual([2, 'SECTION', false]);
  await again();
  expect(places()).toBe(4);

  asked.mockRejectedValue(new Error('locked'));
  await redraw({ snapshot: { ...snapshot, items_before: 1 } });
  alert = await screen.findByRole('alert');
  expect([places(), alert.nextElementSibling?.tagName]).toEqual([4, 'SECTION']);
  await again();
  expect(screen.getByRole('button', { name: 'Show 100 of 5,298 earlier entries' })).toBeTruthy();
});

it('says of a step what it used and cost, also where the price is not known', async () => {
  const scene = await setUp();
  const used = { input_tokens: 900, output_tokens: 100 };
  vi.spyOn(scene.client, 'timeline').mockResolvedValue({
    from: 0,
    total: 3,
    checkpoints: [checkpoint(1), { ...checkpoint(2), ...used, cost: 0.02 }, { ...checkpoint(3), ...used }],
    ledger: [],
    can_undo_rewind: false,
    rewinds: 0,
  });
  const { container } = draw(scene, TimelinePane, {
    snapshot: scene.host.snapshot(scene.workspace.sessionId ?? ''),
  });
  await waitFor(() => expect(container.querySelectorAll('.place')).toHaveLength(3));
  const said = [...container.querySelectorAll('.place small')].map(({ textContent }) =>
    textContent.split(' · ').slice(1),
  );
  expect(said).toEqual([['1k tokens', 'price unknown'], ['1k tokens', '$0.02'], []]);
});

it('has what subagents called, also while their calls never pause', async () => {
  const scene = await setUp();
  vi.useFakeTimers();
  try {
    const asked = vi.spyOn(scene.client, 'timeline').mockImplementation(page);
    const snapshot = scene.host.snapshot(scene.workspace.sessionId ?? '');
    const [own] = snapshot.agents;
    if (!own) throw new Error('a session has an agent');
    const { redraw } = draw(scene, TimelinePane, { snapshot });
    await vi.advanceTimersByTimeAsync(1_000);
    asked.mockClear();

    await redraw({ snapshot: { ...snapshot } });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(asked).not.toHaveBeenCalled();

    for (const current of ['read_file /a', 'read_file /b', 'read_file /c', 'read_file /d']) {
      const scout = { ...own, session: 'scout', parent: own.session, current };
      await redraw({ snapshot: { ...snapshot, agents: [own, scout] } });
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(asked).toHaveBeenCalled();
  } finally {
    vi.useRealTimers();
  }
});
