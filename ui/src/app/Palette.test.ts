import { fireEvent, screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { MentionHit, SearchHit } from '../ipc/bindings';
import { i18n } from '../shared/i18n/i18n.svelte';
import { draw, setUp } from '../test/stage';
import Palette from './Palette.svelte';

it('finds any file of the project, and shows it in the pane of files', async () => {
  const scene = await setUp();
  const feed = scene.workspace.feeds.acquire('s-refresh');
  await waitFor(() => expect(feed.snapshot).toBeTruthy());
  const onClose = vi.fn();
  draw(scene, Palette, { onClose });
  await userEvent.type(screen.getByRole('combobox'), 'auth/refresh.rs');
  await userEvent.click(await screen.findByText('src/auth/refresh.rs', {}, { timeout: 4000 }));
  expect(onClose).toHaveBeenCalled();
  expect([scene.workspace.layout.tab, scene.workspace.fileGoal]).toEqual(['files', '/src/auth/refresh.rs']);
});

it('says what could not be searched, and why, in place of finding nothing', async () => {
  const scene = await setUp();
  vi.spyOn(scene.client, 'searchSessions').mockRejectedValueOnce(new Error('the database is locked'));
  draw(scene, Palette, { onClose: vi.fn() });
  await userEvent.type(screen.getByRole('combobox'), 'zzzz');
  const failure = await screen.findByText(
    /^Not searched: Said in sessions\. The database is locked/i,
    {},
    { timeout: 4000 },
  );
  expect(failure.closest('[role=alert]')).not.toBeNull();
  expect(screen.queryByText('Nothing found')).toBeNull();
  // What is searched again and answers has no failure.
  await userEvent.type(screen.getByRole('combobox'), 'z');
  expect(await screen.findByText('Nothing found', {}, { timeout: 4000 })).toBeTruthy();
});

it('marks the words of what was said, says where and when, and leads to what a subagent did', async () => {
  const scene = await setUp();
  const { workspace } = scene;
  draw(scene, Palette, { onClose: vi.fn() });
  await userEvent.type(screen.getByRole('combobox'), 'billing fakes');
  const hit = await screen.findByRole('option', { name: /^Two fakes are in use/ }, { timeout: 4000 });
  expect([...hit.querySelectorAll('mark')].map((mark) => mark.textContent)).toEqual(['fakes', 'billing']);
  expect(hit.textContent).toContain('Two fakes are in use: `ManualClock` in **auth** and `FrozenTime` in **billing**.');
  expect(hit.querySelector('.note')?.textContent).toMatch(/^Token refresh fails after sleep · by a subagent · ./);
  await userEvent.click(hit);
  expect([workspace.sessionId, workspace.isFinding]).toEqual(['s-refresh', false]);
  expect(workspace.goal).toMatchObject({ session: 's-refresh', foundIn: 's-scout', text: 'billing fakes' });
});

describe('what is found stands in the order of how it fits', () => {
  const listed = (container: HTMLElement) =>
    [...container.ownerDocument.querySelectorAll('[role=group]')].map((group) => ({
      kind: group.getAttribute('aria-label'),
      first: group.querySelector('.ellipsis')?.textContent,
    }));

  it('what was said with the words stands above names that only have some of their letters', async () => {
    const scene = await setUp();
    const { container } = draw(scene, Palette, { onClose: vi.fn() });
    await userEvent.type(screen.getByRole('combobox'), 'the retry');
    await waitFor(() => expect(listed(container)[0]?.kind).toBe('Said in sessions'), { timeout: 4000 });
    expect(screen.queryByRole('option', { name: /^Summarise the conversation/ })).toBeNull();
  });

  it('scattered letters find a name as well, below all that has the word itself', async () => {
    const scene = await setUp();
    const { container } = draw(scene, Palette, { onClose: vi.fn() });
    const field = screen.getByRole('combobox');
    await userEvent.type(field, 'nwses');
    expect(listed(container)).toEqual([{ kind: 'Names with these letters', first: 'New session' }]);
    await fireEvent.input(field, { target: { value: 'ns' } });
    await waitFor(() => expect(listed(container).at(-1)?.kind).toBe('Names with these letters'));
    expect(listed(container).length).toBeGreaterThan(1);
  });

  it('what was walked to stays chosen when something is found that stands before it', async () => {
    const scene = await setUp();
    const { container } = draw(scene, Palette, { onClose: vi.fn() });
    const field = screen.getByRole('combobox');
    const chosen = () => container.ownerDocument.querySelector('[aria-selected=true] .ellipsis')?.textContent;
    await fireEvent.input(field, { target: { value: 'etr' } });
    await fireEvent.input(field, { target: { value: 'retry' } });
    await fireEvent.keyDown(field, { key: 'ArrowDown' });
    const before = chosen();
    await screen.findByRole('group', { name: 'Said in sessions' }, { timeout: 4000 });
    expect([before === undefined, chosen()]).toEqual([false, before]);
  });
});

describe('what comes late', () => {
  const session = { title: 'Elsewhere' };
  const hit = (at: number) => ({
    session: { ...session, id: 's-refresh' } as SearchHit['session'],
    found_in: 's-refresh',
    item: `i-${at}`,
    at: 0,
    snippet: [{ text: `export ${at}`, hit: true }],
  });

  it('does not take the place of what was first under the Enter, and is cut short where something stands below', async () => {
    const scene = await setUp();
    let answer: (hits: SearchHit[]) => void = () => undefined;
    scene.client.searchSessions = () => new Promise((resolve) => (answer = resolve));
    const { container } = draw(scene, Palette, { onClose: vi.fn() });
    const field = screen.getByRole('combobox');
    const chosen = () => container.ownerDocument.querySelector('[aria-selected=true] .ellipsis')?.textContent;
    await fireEvent.input(field, { target: { value: 'session markdown' } });
    const first = chosen();
    await new Promise((resolve) => setTimeout(resolve, 400));
    answer(
      Array.from({ length: 20 }, (_, at) => ({ ...hit(at), snippet: [{ text: `session markdown ${at}`, hit: true }] })),
    );
    const said = await screen.findByRole('group', { name: 'Said in sessions' });
    const groups = [...container.ownerDocument.querySelectorAll('[role=group]')];
    expect([first === undefined, chosen(), groups.indexOf(said)]).toEqual([false, first, 0]);
    expect([groups.length > 1, said.querySelectorAll('[role=option]').length]).toEqual([true, 8]);
    // Of another text the first is chosen anew.
    await fireEvent.input(field, { target: { value: 'session markdown 1' } });
    expect(chosen()).toBe('session markdown 0');
  });

  it('files that the core found in a way of its own stand there, as the last of the files', async () => {
    const scene = await setUp();
    const feed = scene.workspace.feeds.acquire('s-refresh');
    await waitFor(() => expect(feed.snapshot).toBeTruthy());
    const file = (path: string): MentionHit => ({
      kind: 'file',
      name: path,
      detail: '',
      mention: { mention: 'path', path },
    });
    scene.client.findMentions = async ({ text }) =>
      text === 'zebra' ? [file('/src/striped.rs'), file('/src/zebra.rs')] : [];
    draw(scene, Palette, { onClose: vi.fn() });
    const field = screen.getByRole('combobox');
    await fireEvent.input(field, { target: { value: 'zebra' } });
    const files = await screen.findByRole('group', { name: 'Files of this project' });
    const names = [...files.querySelectorAll('[role=option] .ellipsis')].map((name) => name.textContent);
    expect(names).toEqual(['src/zebra.rs', 'src/striped.rs']);
    // They were found for that text only.
    await fireEvent.input(field, { target: { value: 'zzzz' } });
    expect(screen.queryByRole('group', { name: 'Files of this project' })).toBeNull();
  });
});

describe('what a person would type', () => {
  async function open(language: 'en' | 'zh-CN') {
    const scene = await setUp();
    const feed = scene.workspace.feeds.acquire('s-refresh');
    await waitFor(() => expect(feed.snapshot).toBeTruthy());
    i18n.use(language, language);
    const { container } = draw(scene, Palette, { onClose: vi.fn() });
    const field = screen.getByRole('combobox');
    const first = async (typed: string) => {
      await fireEvent.input(field, { target: { value: typed } });
      return container.ownerDocument.querySelector('[role=option] .ellipsis')?.textContent;
    };
    return { ...scene, field, first };
  }

  afterEach(() => i18n.use('en', 'en'));

  it.each([
    ['en', 'export', 'Export the session as JSON'],
    ['en', 'web page', 'Export the session as a web page'],
    ['en', 'archive', 'Archive the session'],
    ['en', 'delete', 'Delete the session'],
    ['en', 'permissions', 'Settings · Permissions'],
    ['en', 'plan only', 'Approval mode · Plan only'],
    ['en', 'upload', 'Attach files to the message'],
    ['en', 'accept all', 'Keep all changes'],
    ['en', 'website', 'website'],
    ['zh-CN', '导出', '导出会话为网页'],
    ['zh-CN', '存档', '归档会话'],
    ['zh-CN', '权限', '设置 · 权限'],
    ['zh-CN', '沙盒', '设置 · 沙箱'],
    ['zh-CN', 'export', '导出会话为 Markdown'],
  ] as const)('in %s finds “%s”', async (language, typed, found) => {
    const { first } = await open(language);
    expect(await first(typed)).toBe(found);
  });

  it('is done as it is done elsewhere', async () => {
    const { workspace, host, field, first } = await open('en');
    const choose = async (typed: string) => {
      await first(typed);
      await fireEvent.keyDown(field, { key: 'Enter' });
    };
    await choose('export the session as a web page');
    expect(workspace.dialog).toMatchObject({ kind: 'export', session: { id: 's-refresh' }, format: 'html' });
    await choose('settings · hooks');
    expect(workspace.dialog).toEqual({ kind: 'settings', section: 'hooks' });
    await choose('archive the session');
    await waitFor(() => expect(workspace.notes.current?.undo).toBeTypeOf('function'));
    expect(host.calls.map(({ name }) => name)).toEqual(['archiveSession']);
    await choose('website');
    expect(workspace.projectId).toBe('p-site');
    await choose('old-prototype');
    expect([workspace.projectId, workspace.errors.at(-1)?.code]).toEqual(['p-site', 'project_unusable']);
  });
});
