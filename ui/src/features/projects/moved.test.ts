import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ProjectView } from '../../ipc/bindings';
import { i18n } from '../../shared/i18n/i18n.svelte';
import { draw, setUp } from '../../test/stage';
import { moveProject } from '../../app/moving';
import ChangesPane from '../changes/ChangesPane.svelte';
import FilesPane from '../files/FilesPane.svelte';
import GoneStrip from './GoneStrip.svelte';
import ProjectSwitcher from './ProjectSwitcher.svelte';

afterEach(() => i18n.use('en', 'en'));

describe('a project whose folder is gone', () => {
  it.each([
    ['en', 'It moved: choose its folder… old-prototype'],
    ['zh-CN', '已移动：选择它的文件夹… old-prototype'],
  ] as const)('is listed with the way to where it is now, in %s', async (language, name) => {
    const scene = await setUp();
    i18n.use(language, language);
    draw(scene, ProjectSwitcher, {});
    // The menu is put in its place by its size, which nothing has here.
    const user = userEvent.setup({ pointerEventsCheck: 0 });
    await user.click(screen.getByRole('button'));
    await user.click(await screen.findByLabelText(name));
    await waitFor(() => expect(scene.workspace.project?.name).toBe('prototype'));
    expect(scene.host.calls.at(-1)).toMatchObject({ name: 'moveProject', value: 'p-gone' });
    // One row for it, and none of the others has that way.
    expect(scene.workspace.projects.map(({ id }) => id)).toEqual(['p-gone', 'p-harbour', 'p-site']);
    await user.click(screen.getByRole('button'));
    await screen.findByText('website');
    expect(screen.queryByLabelText(name)).toBeNull();
  });

  it('stays as it was where the dialog was left', async () => {
    const { workspace, client } = await setUp();
    vi.spyOn(client, 'moveProject').mockResolvedValueOnce(null);
    const before = [workspace.projects, workspace.projectId];
    await moveProject(workspace, 'p-gone');
    expect([workspace.projects, workspace.projectId]).toEqual(before);
  });

  it('has what was written in the one that gives way, though the news of it are here before the answer', async () => {
    const { workspace, client } = await setUp();
    const moved = client.moveProject.bind(client);
    const [other] = workspace.projects.filter(({ id }) => id !== 'p-gone');
    if (!other) throw new Error('no other project');
    workspace.drafts.write(`new:${other.id}`, 'begun there');
    vi.spyOn(client, 'moveProject').mockImplementationOnce(async (id) => {
      const project = await moved(id);
      workspace.projects = workspace.projects.filter((one) => one !== other);
      return project && { ...project, path: other.path };
    });
    await moveProject(workspace, 'p-gone');
    expect([workspace.drafts.of('new:p-gone'), workspace.drafts.of(`new:${other.id}`)]).toEqual(['begun there', '']);
  });

  it('says so where a session of it is looked at', async () => {
    const scene = await setUp('gone');
    const [session] = scene.workspace.sessions;
    if (!session) throw new Error('no session');
    draw(scene, GoneStrip, {});
    expect(screen.queryByRole('status')).toBeNull();
    scene.workspace.openSession(session);
    await userEvent.click(await screen.findByRole('button', { name: 'It moved: choose its folder…' }));
    await waitFor(() => expect(screen.queryByRole('status')).toBeNull());
    expect(scene.workspace.sessionId).toBe(session.id);
  });

  it('is told of while it is looked at, in its row and beside its files, and is back by itself', async () => {
    const scene = await setUp();
    const { workspace, client } = scene;
    vi.spyOn(client, 'subscribeProjects').mockImplementation((listener) => {
      tell = listener;
      return Promise.resolve({ first: workspace.projects, close: () => undefined });
    });
    let tell: (projects: ProjectView[]) => void = () => undefined;
    const watched = vi.spyOn(client, 'watchFolders');
    await workspace.load();
    const session = workspace.sessionId ?? '';
    const { projectId, projects } = workspace;
    workspace.dialog = { kind: 'shortcuts' };
    draw(scene, FilesPane, { session, isRunning: false });
    draw(scene, ProjectSwitcher, {});
    await waitFor(() => expect(watched).toHaveBeenCalledOnce());
    tell(projects.map((one) => (one.id === projectId ? { ...one, problem: 'missing' as const } : one)));
    await screen.findByRole('button', { name: 'It moved: choose its folder…' });
    expect(screen.getAllByText(/The folder is gone/)).toHaveLength(2);
    await waitFor(() => expect(watched).toHaveBeenCalledTimes(2));
    // Nothing else is gone to or closed for that.
    expect([workspace.projectId, workspace.sessionId, workspace.dialog]).toEqual([
      projectId,
      session,
      { kind: 'shortcuts' },
    ]);
    tell(projects);
    await waitFor(() => expect(screen.queryByText(/The folder is gone/)).toBeNull());
    await waitFor(() => expect(watched).toHaveBeenCalledTimes(3));
    // One that a second start opened comes into sight.
    const [first, ...others] = projects.toReversed();
    if (!first) throw new Error('no projects');
    tell([{ ...first, opened_at: Math.max(...projects.map((one) => one.opened_at)) + 1 }, ...others]);
    expect([workspace.projectId, workspace.dialog]).toEqual([first.id, null]);
  });

  it('is told of aloud in one place, and in the pane where that is all that can be reached', async () => {
    const scene = await setUp('gone');
    const [session] = scene.workspace.sessions;
    if (!session) throw new Error('no session');
    scene.workspace.openSession(session);
    const { layout } = scene.workspace;
    let isDrawer = false;
    vi.spyOn(layout, 'isDrawer', 'get').mockImplementation(() => isDrawer);
    const said = () => screen.queryAllByRole('status').filter((one) => one.textContent.includes('The folder is gone'));
    const count = (drawn: { unmount: () => void }) => {
      const { length } = said();
      drawn.unmount();
      return length;
    };
    const files = () => count(draw(scene, FilesPane, { session: session.id, isRunning: false }));
    const snapshot = (await setUp()).host.snapshot('s-fixtures');
    const changes = (isWide: boolean) => count(draw(scene, ChangesPane, { snapshot, isWide }));
    expect([files(), changes(false), changes(true)]).toEqual([0, 0, 1]);
    isDrawer = true;
    expect([files(), changes(false), changes(true)]).toEqual([1, 1, 1]);
    draw(scene, ProjectSwitcher, {});
    expect(screen.getByRole('button', { name: /The folder is gone/ })).toBeTruthy();
  });

  it('is no error that is read out when it is back', async () => {
    const scene = await setUp();
    const { workspace, client } = scene;
    const { projects } = workspace;
    draw(scene, FilesPane, { session: workspace.sessionId ?? '', isRunning: false });
    await screen.findAllByRole('treeitem');
    const read = vi.spyOn(client, 'listFolder').mockRejectedValue({ code: 'io', message: 'no such folder' });
    workspace.projects = projects.map((one) => ({ ...one, problem: 'missing' as const }));
    await waitFor(() => expect(screen.queryByRole('treeitem')).toBeNull());
    await waitFor(() => expect(read).toHaveBeenCalled());
    await new Promise((resolve) => setTimeout(resolve));
    let goOn: () => void = () => undefined;
    const waits = new Promise<void>((resolve) => (goOn = resolve));
    read.mockRestore();
    const list = client.listFolder.bind(client);
    vi.spyOn(client, 'listFolder').mockImplementation((...asked) => waits.then(() => list(...asked)));
    workspace.projects = projects;
    await waitFor(() => expect(screen.queryByText(/The folder is gone/)).toBeNull());
    expect(screen.queryByRole('alert')).toBeNull();
    goOn();
    await screen.findAllByRole('treeitem');
  });

  it('is known from the news that come while the rest of the start is read', async () => {
    const { workspace, client } = await setUp();
    const { projects, projectId } = workspace;
    let tell: (projects: ProjectView[]) => void = () => undefined;
    vi.spyOn(client, 'subscribeProjects').mockImplementation((listener) => {
      tell = listener;
      return Promise.resolve({ first: projects, close: () => undefined });
    });
    const deleted = client.listDeleted.bind(client);
    vi.spyOn(client, 'listDeleted').mockImplementation(async () => {
      tell(projects.map((one) => (one.id === projectId ? { ...one, problem: 'missing' as const } : one)));
      workspace.sessionsChanged([]);
      return deleted();
    });
    await workspace.load();
    expect(workspace.projects.find(({ id }) => id === projectId)?.problem).toBe('missing');
    expect([workspace.projectId === projectId, workspace.sessions]).toEqual([false, []]);
  });

  it('is no other folder where it is there and may not be used', async () => {
    const scene = await setUp('gone');
    const { workspace } = scene;
    workspace.projects = workspace.projects.map((one) => ({ ...one, problem: 'home_folder' as const }));
    workspace.projectId = 'p-gone';
    draw(scene, GoneStrip, {});
    expect((await screen.findByRole('status')).textContent).toContain('home folder');
    expect(screen.queryByRole('button')).toBeNull();
  });
});
