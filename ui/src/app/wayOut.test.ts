import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CommandError, Problem } from '../ipc/bindings';
import { i18n } from '../shared/i18n/i18n.svelte';
import { told } from '../shared/problem';
import { draw, setUp } from '../test/stage';
import Errors from './Errors.svelte';
import { moveProject } from './moving';
import { stepsOut } from './wayOut';

afterEach(() => i18n.use('en', 'en'));

const names = (row: HTMLElement) => [...row.querySelectorAll('.btn')].map((one) => one.textContent);
const press = (name: string) => userEvent.click(screen.getByRole('button', { name }));

describe('the way out that a sentence names', () => {
  it.each<[Problem, string, unknown]>([
    [
      { problem: 'key_refused', host: 'api.openai.com', status: 401 },
      'Settings of OpenAI',
      { kind: 'settings', section: 'models', provider: 'openai' },
    ],
    [
      { problem: 'host_unknown', host: 'nowhere.example', detail: '' },
      'Settings of Anthropic',
      { kind: 'settings', section: 'models', provider: 'anthropic' },
    ],
    [{ problem: 'too_many_rules', most: 500 }, 'Show the rules', { kind: 'settings', section: 'permissions' }],
    [{ problem: 'may_be_program', name: 'x.sh' }, 'Choose an editor', { kind: 'settings', section: 'appearance' }],
    [{ problem: 'sandbox_elsewhere' }, 'Sandbox settings', { kind: 'settings', section: 'sandbox' }],
    [{ problem: 'server_untrusted' }, 'See what the folder brings', { kind: 'trust' }],
    [{ problem: 'skill_gone' }, 'Show the skills', { kind: 'skills' }],
  ])('is one press away: %o', async (problem, label, dialog) => {
    const scene = await setUp();
    const { workspace } = scene;
    draw(scene, Errors, {});
    workspace.fail(told('invalid', problem));
    expect(names(await screen.findByRole('alert'))).toEqual([label]);
    await press(label);
    expect(workspace.dialog).toEqual(dialog);
    expect(workspace.errors).toEqual([]);
  });

  it('is a menu for a model, and a pane for the timeline', async () => {
    const { workspace } = await setUp();
    const run = (problem: Problem) => stepsOut(workspace, problem).forEach((step) => step.run());
    run({ problem: 'no_model_chosen' });
    expect(workspace.isModelMenuOpen).toBe(true);
    run({ problem: 'place_gone' });
    expect(workspace.layout.tab).toBe('timeline');
  });

  it('is in the language of the window, and nowhere where there is none', async () => {
    const { workspace } = await setUp();
    i18n.use('zh-CN', 'en');
    const labels = (problem: Problem) => stepsOut(workspace, problem).map(({ label }) => label);
    expect(labels({ problem: 'too_many_rules', most: 500 })).toEqual(['查看规则']);
    expect(labels({ problem: 'empty_message' })).toEqual([]);
  });
});

const full: CommandError = { code: 'storage_unavailable', message: '', problem: { problem: 'disk_full' } };

describe('what failed', () => {
  it('is done again, and its sentence goes with the success', async () => {
    const scene = await setUp();
    const { workspace, client } = scene;
    const pin = vi.spyOn(scene.host, 'update').mockImplementationOnce(() => {
      throw full;
    });
    draw(scene, Errors, {});
    await workspace.run(() => client.pinSession('s-refresh', true));
    // The client that the workspace listens to is the one that says what failed.
    expect(workspace.troubles.list).toHaveLength(1);
    expect(names(screen.getByRole('alert'))).toEqual([]);
    workspace.troubles.forget('storage_unavailable');

    pin.mockImplementationOnce(() => {
      throw full;
    });
    await workspace.run(() => workspace.client.pinSession('s-refresh', true));
    await press('Try again');
    await waitFor(() => expect(workspace.session?.pinned).toBe(true));
    expect(workspace.errors).toEqual([]);
  });

  it('is not done again where that would do something twice', async () => {
    const scene = await setUp();
    const { workspace } = scene;
    vi.spyOn(scene.client, 'forkSession').mockRejectedValue(full);
    draw(scene, Errors, {});
    await workspace.past.fork(1);
    expect(screen.getByRole('alert').textContent).toContain('The disk is full');
    expect(names(screen.getByRole('alert'))).toEqual([]);
  });
});

describe('a folder that is not where it was', () => {
  const missing: CommandError = {
    code: 'project_unusable',
    message: '',
    problem: { problem: 'project_missing', path: '/x' },
  };

  it('is chosen where it is now, for the session at hand', async () => {
    const scene = await setUp();
    const { workspace, client, host } = scene;
    const feed = workspace.feeds.acquire('s-refresh');
    await waitFor(() => expect(feed.snapshot).not.toBeNull());
    vi.spyOn(client, 'stopTurn').mockRejectedValueOnce(missing);
    draw(scene, Errors, {});
    workspace.stop();
    await waitFor(() => expect(names(screen.getByRole('alert'))).toHaveLength(2));
    await press('It moved: choose its folder…');
    await waitFor(() => expect(workspace.project?.name).toBe('prototype'));
    expect(host.calls.at(-1)).toMatchObject({ name: 'moveProject', value: 'p-harbour' });
    expect(workspace.sessionsOf('p-harbour').length).toBeGreaterThan(0);
  });

  it('is that of the project in which it was asked for, wherever the person is by now', async () => {
    const scene = await setUp();
    const { workspace, client, host } = scene;
    vi.spyOn(client, 'stopTurn').mockRejectedValueOnce(missing);
    draw(scene, Errors, {});
    workspace.stop();
    await waitFor(() => expect(names(screen.getByRole('alert'))).toHaveLength(2));
    workspace.enterProject('p-site');
    await press('It moved: choose its folder…');
    await waitFor(() => expect(host.calls.at(-1)).toMatchObject({ name: 'moveProject', value: 'p-harbour' }));
  });

  it('is another one where the person was asked for a folder', async () => {
    const scene = await setUp();
    vi.spyOn(scene.client, 'pickProject').mockRejectedValueOnce(missing);
    draw(scene, Errors, {});
    await scene.workspace.pickProject();
    expect(names(screen.getByRole('alert'))).toEqual(['Open another folder…']);
  });

  it('shows sessions again that could not be shown for want of it', async () => {
    const scene = await setUp();
    const { workspace, client } = scene;
    vi.spyOn(client, 'subscribeSession').mockRejectedValueOnce(missing);
    const feed = workspace.feeds.acquire('another');
    await waitFor(() => expect(feed.error).not.toBeNull());
    await moveProject(workspace, 'p-harbour');
    await waitFor(() => expect(client.subscribeSession).toHaveBeenCalledTimes(2));
  });

  it('takes the place of one that was only opened there, with what was written in it', async () => {
    const { workspace, client } = await setUp();
    const [there] = workspace.projects.filter(({ id }) => id === 'p-site');
    const moved = workspace.projects.find(({ id }) => id === 'p-harbour');
    if (!there || !moved) throw new Error('no projects');
    workspace.drafts.write('new:p-site', 'words');
    const file = { name: 'a.txt', size: 1, kind: 'text' as const, blob: 'b' };
    workspace.alongs.put('new:p-site', { files: [file], names: [] });
    await workspace.projectModels.save('p-site', { model: { provider: 'p', name: 'm' }, effort: null });
    vi.spyOn(client, 'moveProject').mockResolvedValueOnce({ ...moved, path: there.path });
    const session = workspace.sessionId;
    await moveProject(workspace, 'p-harbour');
    expect(workspace.projects.filter(({ path }) => path === there.path).map(({ id }) => id)).toEqual(['p-harbour']);
    expect(workspace.drafts.of('new:p-harbour')).toBe('words');
    expect(workspace.alongs.of('new:p-harbour').kept().files).toEqual([file]);
    expect([workspace.drafts.of('new:p-site'), workspace.alongs.of('new:p-site').kept().files]).toEqual(['', []]);
    expect(workspace.projectModels.of('p-site')).toBeNull();
    expect(workspace.sessionId).toBe(session);
  });

  it('is refused by its sentence, and asked for once more', async () => {
    const scene = await setUp();
    const { workspace, client } = scene;
    const taken: Problem = { problem: 'project_taken', path: '/x', name: 'other' };
    vi.spyOn(client, 'moveProject').mockRejectedValueOnce(told('project_unusable', taken));
    draw(scene, Errors, {});
    await moveProject(workspace, 'p-gone');
    expect(screen.getByRole('alert').textContent).toContain("already the folder of the project 'other'");
    await press('It moved: choose its folder…');
    await waitFor(() => expect(workspace.projectId).toBe('p-gone'));
    expect([workspace.project?.problem, workspace.errors]).toEqual([null, []]);
  });
});
