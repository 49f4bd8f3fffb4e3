import { describe, expect, it, vi } from 'vitest';
import { setUp } from '../../test/stage';

describe('running freely in the sandbox', () => {
  it('turns the sandbox of the project on, and is passed over by Shift+Tab where it is off', async () => {
    const { workspace, client } = await setUp();
    const { modes, sandboxes, projectId } = workspace;
    const ask = vi.spyOn(client, 'setSessionMode');
    await modes.choose('edits');
    await modes.cycle();
    expect(modes.current).toBe('plan_only');
    await modes.choose('sandbox');
    expect([modes.current, sandboxes.holds(projectId)]).toEqual(['sandbox', true]);
    expect(ask).toHaveBeenLastCalledWith(workspace.sessionId, 'sandbox');
    await modes.choose('edits');
    await modes.cycle();
    expect(modes.current).toBe('sandbox');
  });

  it('is not chosen where the core has no sandbox, for a session or a project', async () => {
    const { workspace, client } = await setUp();
    const before = workspace.modes.current;
    client.setCommandPlace = () => Promise.reject(new Error('no bubblewrap'));
    await workspace.modes.choose('sandbox');
    await workspace.modes.chooseFor(workspace.projectId ?? '', 'sandbox');
    expect(workspace.modes.current).toBe(before);
    expect(workspace.modes.of(workspace.projectId ?? '')).toBe('ask');
    expect(workspace.errors).toHaveLength(1);
  });
});

describe('the next mode', () => {
  it('is none where the core refuses it', async () => {
    const { workspace, client } = await setUp();
    expect(await workspace.modes.cycle()).toBe('edits');
    client.setSessionMode = () => Promise.reject(new Error('no'));
    expect(await workspace.modes.cycle()).toBeNull();
    expect(workspace.modes.current).toBe('edits');
    expect(workspace.errors).toHaveLength(1);
  });
});
