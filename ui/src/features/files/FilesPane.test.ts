import { fireEvent, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { describe, expect, it, vi } from 'vitest';
import { draw, setUp } from '../../test/stage';
import FilesPane from './FilesPane.svelte';

const SESSION = 's-refresh';
const row = (name: RegExp) => screen.findByRole('treeitem', { name });
const field = () => screen.getByRole('searchbox', { name: 'Find files by name' });
const tree = () => screen.getByRole('tree');

async function pane() {
  const scene = await setUp();
  draw(scene, FilesPane, { session: SESSION, isRunning: false });
  await row(/^src/);
  return scene;
}

async function menuOf(name: RegExp) {
  await fireEvent.contextMenu(await row(name));
  const menu = await screen.findByRole('menu');
  return within(menu)
    .getAllByRole('menuitem')
    .map((item) => item.textContent.trim());
}

describe('the menu of a row', () => {
  it('has for a folder on disk what there is for a file', async () => {
    const { host } = await pane();
    expect(await menuOf(/^src/)).toEqual([
      'Mention in the message',
      'Open in the file manager',
      'Show in its folder',
      'Copy path',
    ]);
    await userEvent.click(screen.getByRole('menuitem', { name: 'Show in its folder' }));
    await waitFor(() => expect(host.calls.at(-1)).toMatchObject({ name: 'revealFile', value: '/src' }));
    await waitFor(() => expect(document.activeElement).toBe(tree()));
  });

  it('has for what Bosun keeps only what can be done with it', async () => {
    const { host } = await pane();
    await userEvent.click(await row(/^memories/));
    expect(await menuOf(/^style\.md/)).toEqual(['Mention in the message', 'Copy path', 'Save as…']);
    await userEvent.click(screen.getByRole('menuitem', { name: 'Save as…' }));
    await waitFor(() => expect(host.calls.at(-1)).toMatchObject({ name: 'saveFile', value: '/memories/style.md' }));
  });

  it('opens by the keys too, and names a folder in the message', async () => {
    const { workspace } = await pane();
    tree().focus();
    await userEvent.keyboard('{End}{ArrowUp}{ArrowUp}{ArrowUp}{Shift>}{F10}{/Shift}');
    await userEvent.click(await screen.findByRole('menuitem', { name: 'Mention in the message' }));
    await waitFor(() => expect(workspace.drafts.of(workspace.draftKey)).toContain('@src '));
  });
});

describe('the field over the files', () => {
  it('looks through all anew when that is asked for, and shows what came meanwhile', async () => {
    const { client, host } = await pane();
    const find = vi.spyOn(client, 'findFiles');
    await userEvent.type(field(), 'cargo');
    await row(/Cargo\.toml/);
    // Fewer letters found it too: what is asked next is asked by the button.
    await waitFor(() => expect(find).toHaveBeenLastCalledWith(SESSION, 'cargo'));
    await find.mock.results.at(-1)?.value;
    await tick();
    const before = find.mock.calls.length;
    const late = { name: 'late.rs', path: '/late.rs', is_folder: false, on_disk: true, size: null, modified_at: null };
    find.mockImplementationOnce(async () => {
      expect(host.calls.at(-1)?.name).toBe('lookAnew');
      return { entries: [{ ...late, mount: null }], more: 0, partial: false };
    });
    await userEvent.click(screen.getByRole('button', { name: 'Refresh the folders' }));
    await row(/^late\.rs/);
    expect(find.mock.calls.slice(before)).toEqual([[SESSION, 'cargo']]);
  });

  it('finds what is in every mount, and Escape brings the tree back', async () => {
    await pane();
    await userEvent.type(field(), 'style');
    const hit = await row(/^style\.md/);
    expect(hit.textContent).toContain('/memories');
    await userEvent.keyboard('{ArrowDown}');
    expect(document.activeElement).toBe(screen.getByRole('tree', { name: 'Find files by name' }));
    await userEvent.keyboard('{Enter}');
    await screen.findByRole('region', { name: 'Preview of /memories/style.md' });
    await userEvent.keyboard('{Escape}');
    await row(/^src/);
    expect(document.activeElement).toBe(field());
  });

  it('is typed into from the tree, and leads to a folder that was found', async () => {
    await pane();
    tree().focus();
    await userEvent.keyboard('auth');
    expect(field()).toHaveProperty('value', 'auth');
    await row(/^auth/);
    await userEvent.keyboard('{Enter}');
    const found = await row(/^auth/);
    expect(found.getAttribute('aria-expanded')).toBe('true');
    await row(/^clock\.rs/);
  });

  it('says that nothing is called that', async () => {
    await pane();
    await userEvent.type(field(), 'zzzz');
    await screen.findByText(/^No file or folder has this name/);
  });
});

describe('the look at a file', () => {
  it('draws a document, and its source as long as that is wanted', async () => {
    await pane();
    await userEvent.click(await row(/^memories/));
    await userEvent.click(await row(/^style\.md/));
    await screen.findByRole('heading', { name: 'How this project is written' });
    await userEvent.click(screen.getByRole('radio', { name: 'Source' }));
    await screen.findByText('# How this project is written');
    await userEvent.click(await row(/^CHANGELOG\.md/));
    await screen.findByRole('region', { name: 'Preview of CHANGELOG.md' });
    expect(await screen.findByRole('radio', { name: 'Source' })).toHaveProperty('checked', true);
    await userEvent.click(screen.getByRole('radio', { name: 'Rendered' }));
  });

  it('goes on in further rows where a line is long', async () => {
    await pane();
    await userEvent.click(await row(/^large_tool_results/));
    await userEvent.click(await row(/^answer/));
    await screen.findByText('1.1');
    await screen.findByText(/^A long line goes on in further rows/);
  });

  it('copies a whole text, and says where it is too large for that', async () => {
    const { workspace } = await pane();
    const write = vi.fn(() => Promise.resolve());
    Object.defineProperty(navigator, 'clipboard', { value: { writeText: write }, configurable: true });
    await userEvent.click(await row(/^large_tool_results/));
    await userEvent.click(await row(/^answer/));
    await userEvent.click(await screen.findByRole('button', { name: 'Copy the whole text' }));
    await waitFor(() => expect(write).toHaveBeenCalledWith(expect.stringMatching(/^\[\{"id":0.*\}\]$/)));
    await userEvent.click(await row(/^call-7/));
    await screen.findByRole('region', { name: 'Preview of /large_tool_results/call-7' });
    await userEvent.click(await screen.findByRole('button', { name: 'Copy the whole text' }));
    await waitFor(() => expect(workspace.errors.at(-1)?.problem).toMatchObject({ problem: 'too_large_to_copy' }));
    expect(write).toHaveBeenCalledTimes(1);
  });
});
