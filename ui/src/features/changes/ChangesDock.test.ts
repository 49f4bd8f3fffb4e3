import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { FileReview } from '../../ipc/bindings';
import { draw, setUp } from '../../test/stage';
import ChangesDock from './ChangesDock.svelte';
import ChangesPane from './ChangesPane.svelte';

const button = (name: string) => screen.getByRole('button', { name });
const dock = () => screen.queryByRole('region', { name: '2 files changed' });

let time = 10_000;
/** Between two looks at the clock. */
let passes = 1000;
beforeEach(() => {
  passes = 1000;
  vi.spyOn(performance, 'now').mockImplementation(() => (time += passes));
});

async function fixtures() {
  const scene = await setUp();
  const calls = (name: string) => scene.host.calls.filter((one) => one.name === name).map(({ value }) => value);
  return { ...scene, calls, snapshot: scene.host.snapshot('s-fixtures') };
}

describe('the dock of changed files', () => {
  it('says how much changed, and is gone when all of it is kept', async () => {
    const scene = await fixtures();
    draw(scene, ChangesDock, { snapshot: scene.snapshot });
    await waitFor(() => expect(dock()?.textContent).toMatch(/2 files changed\s*\+41\s*−1/));
    await userEvent.click(button('Keep all'));
    await waitFor(() => expect(dock()).toBeNull());
    expect(scene.calls('keepChanges')).toEqual([{ path: null, scope: 'session' }]);
  });

  it('puts everything back when it was asked twice', async () => {
    const scene = await fixtures();
    draw(scene, ChangesDock, { snapshot: scene.snapshot });
    await waitFor(() => expect(dock()).toBeTruthy());
    await userEvent.click(button('Undo all'));
    expect(scene.calls('undoChanges')).toEqual([]);
    await userEvent.click(button('Put 2 files back?'));
    await waitFor(() => expect(scene.calls('undoChanges')).toEqual([{ session: 's-fixtures', scope: 'session' }]));
  });

  it('takes a double click for one', async () => {
    const scene = await fixtures();
    draw(scene, ChangesDock, { snapshot: scene.snapshot });
    await waitFor(() => expect(dock()).toBeTruthy());
    passes = 20;
    await userEvent.dblClick(button('Undo all'));
    expect(button('Put 2 files back?')).toBeTruthy();
    expect(scene.calls('undoChanges')).toEqual([]);
  });

  it('puts nothing back while the agent is at work', async () => {
    const scene = await fixtures();
    const session = { ...scene.snapshot.session, status: 'running' as const };
    draw(scene, ChangesDock, { snapshot: { ...scene.snapshot, session } });
    await waitFor(() => expect(dock()).toBeTruthy());
    expect(button('Undo all').hasAttribute('disabled')).toBe(true);
    expect(button('Undo all').title).toBe('The agent is at work. Stop it first.');
  });

  it('leads to the pane', async () => {
    const scene = await fixtures();
    scene.workspace.layout.tab = 'plan';
    draw(scene, ChangesDock, { snapshot: scene.snapshot });
    await waitFor(() => expect(dock()).toBeTruthy());
    await userEvent.click(button('Review'));
    expect(scene.workspace.layout.tab).toBe('changes');
  });

  it('steps back while something waits for an answer', async () => {
    const scene = await fixtures();
    const { redraw } = draw(scene, ChangesDock, { snapshot: scene.snapshot });
    await waitFor(() => expect(dock()).toBeTruthy());
    await redraw({ snapshot: { ...scene.snapshot, approvals: scene.host.snapshot('s-refresh').approvals } });
    expect(dock()).toBeNull();
  });

  it('knows what was kept in the pane', async () => {
    const scene = await fixtures();
    draw(scene, ChangesDock, { snapshot: scene.snapshot });
    draw(scene, ChangesPane, { snapshot: scene.snapshot });
    await waitFor(() => expect(dock()).toBeTruthy());
    await userEvent.click(await screen.findByRole('button', { name: 'Keep the changes to tests/fixtures/users.sql' }));
    await screen.findByRole('region', { name: '1 file changed' });
  });
});

describe('the pane of changes', () => {
  it('opens the file in the program for it, at its first new line', async () => {
    const scene = await fixtures();
    const open = vi.spyOn(scene.client, 'openFile');
    const look = scene.client.fileReview.bind(scene.client);
    scene.client.fileReview = async (...asked) => {
      const found = await look(...asked);
      const line = { kind: 'added' as const, old: null, new: 7, segments: [], no_newline: false };
      const hunk = { old_start: 6, old_lines: 0, new_start: 7, new_lines: 1, heading: '', lines: [line] };
      return { ...found, diff: { ...found.diff, hunks: [hunk] } };
    };
    draw(scene, ChangesPane, { snapshot: scene.snapshot });
    await waitFor(async () => {
      await userEvent.click(screen.getByRole('button', { name: 'Open in its default app' }));
      expect(open).toHaveBeenLastCalledWith(scene.snapshot.session.id, '/tests/fixtures/users.sql', 7);
    });
  });

  it('keeps and undoes what the scope shows, and asks about so many files', async () => {
    const scene = await fixtures();
    scene.host.world.problems = {};
    draw(scene, ChangesPane, { snapshot: scene.snapshot });
    await userEvent.click(await screen.findByRole('button', { name: 'Undo all' }));
    expect(button('Put 2 files back?')).toBeTruthy();
    await userEvent.click(screen.getByRole('radio', { name: 'Last turn' }));
    await waitFor(() => expect(screen.queryByRole('button', { name: /^tests\/fixtures\/users/ })).toBeNull());
    await userEvent.click(button('Undo all'));
    await userEvent.click(button('Put 1 file back?'));
    await waitFor(() => expect(scene.calls('undoChanges')).toEqual([{ session: 's-fixtures', scope: 'turn' }]));
    await userEvent.click(screen.getByRole('radio', { name: 'Session' }));
    await userEvent.click(await screen.findByRole('button', { name: 'Keep the changes to tests/fixtures/users.sql' }));
    await userEvent.click(await screen.findByRole('button', { name: 'Review it again' }));
    await userEvent.click(await screen.findByRole('button', { name: 'Undo the changes to tests/fixtures/users.sql' }));
    const path = '/tests/fixtures/users.sql';
    for (const name of ['keepChanges', 'reopenChange', 'undoFile'])
      await waitFor(() => expect(scene.calls(name)).toEqual([{ path, scope: 'session' }]));
  });

  it('goes on asking while the same changes are read again', async () => {
    const scene = await fixtures();
    draw(scene, ChangesPane, { snapshot: scene.snapshot });
    await userEvent.click(await screen.findByRole('button', { name: 'Undo all' }));
    const read = vi.spyOn(scene.client, 'changedFiles');
    scene.workspace.reviewed++;
    await waitFor(() => expect(read).toHaveBeenCalled());
    await Promise.all(read.mock.results.map(({ value }) => value as Promise<unknown>));
    await tick();
    expect(button('Put 2 files back?')).toBeTruthy();
  });

  it('keeps all of a scope that can be kept alone, and says why the rest cannot', async () => {
    const scene = await fixtures();
    const path = '/tests/support/fixtures.rs';
    scene.host.world.problems = { [path]: { problem: 'earlier_open', path } };
    draw(scene, ChangesPane, { snapshot: scene.snapshot });
    await userEvent.click(await screen.findByRole('radio', { name: 'Last turn' }));
    await waitFor(() => expect(screen.queryByRole('button', { name: /^tests\/fixtures\/users/ })).toBeNull());
    await userEvent.click(await screen.findByRole('button', { name: 'Keep all' }));
    await waitFor(() => expect(scene.workspace.errors[0]?.problem).toEqual({ problem: 'earlier_open', path }));
    expect(scene.calls('keepChanges')).toEqual([{ path: null, scope: 'turn' }]);
  });

  it('shows nothing of the scope before when the chosen one cannot be read', async () => {
    const scene = await fixtures();
    draw(scene, ChangesPane, { snapshot: scene.snapshot });
    await screen.findByRole('button', { name: 'Undo all' });
    vi.spyOn(scene.workspace.client, 'changedFiles').mockRejectedValue(new Error('no such luck'));
    await userEvent.click(screen.getByRole('radio', { name: 'Last turn' }));
    await screen.findByRole('alert');
    expect(screen.queryByRole('button', { name: 'Undo all' })).toBeNull();
  });

  it('has the one place of a file kept alone only where its rights changed beside it', async () => {
    const scene = await fixtures();
    const whole = scene.client.fileReview.bind(scene.client);
    let rights: FileReview['rights'] = null;
    const hunk = { heading: 'one place', old_start: 1, old_lines: 0, new_start: 1, new_lines: 0, lines: [] };
    vi.spyOn(scene.client, 'fileReview').mockImplementation(async (...asked) => {
      const review = await whole(...asked);
      return { ...review, rights, diff: { ...review.diff, hunks: [hunk] } };
    });
    const keeps = () => screen.queryAllByRole('button', { name: 'Keep change 1' }).length;
    const drawn = draw(scene, ChangesPane, { snapshot: scene.snapshot });
    await screen.findByText(/one place/);
    expect(keeps()).toBe(0);
    drawn.unmount();
    rights = { before: 'rw-r--r--', after: 'rwxr-xr-x' };
    draw(scene, ChangesPane, { snapshot: scene.snapshot });
    await screen.findByText(/one place/);
    expect(keeps()).toBe(1);
  });

  it('opens no file that is not there', async () => {
    const scene = await fixtures();
    const [first] = scene.snapshot.changes;
    if (!first) throw new Error('nothing changed');
    const gone = { ...scene.snapshot, changes: [{ ...first, change: 'deleted' as const, added: 0, removed: 40 }] };
    scene.host.add(gone);
    draw(scene, ChangesPane, { snapshot: gone });
    await screen.findByRole('button', { name: /^Keep the changes to/ });
    expect(screen.queryByRole('button', { name: 'Open in its default app' })).toBeNull();
  });
});
