import { expect, it, vi } from 'vitest';
import { setUp } from '../../test/stage';
import { FileTree } from './fileTree.svelte';
import { FilesLeft } from './left.svelte';

it('opens the folders that lead to a file, and shows it', async () => {
  const { client } = await setUp();
  const tree = new FileTree(client, 's-refresh');
  await tree.reveal('/src/auth/clock.rs');
  expect([tree.chosen, tree.preview?.path]).toEqual(['/src/auth/clock.rs', '/src/auth/clock.rs']);
  expect(tree.folders).toEqual(expect.arrayContaining(['/', '/src', '/src/auth']));
});

it('begins with the folders that were open and the file that was looked at', async () => {
  const { client } = await setUp();
  const left = new FilesLeft();
  const before = new FileTree(client, 's-refresh', left);
  await before.reveal('/src/auth/clock.rs');
  await before.toggle('/docs');
  const tree = new FileTree(client, 's-refresh', left);
  expect([tree.chosen, tree.folders.toSorted()]).toEqual(['/src/auth/clock.rs', ['/', '/docs', '/src', '/src/auth']]);
  await vi.waitFor(() => expect(tree.preview?.path).toBe('/src/auth/clock.rs'));
  await vi.waitFor(() => expect(tree.rows.map(({ key }) => key)).toContain('/src/auth/clock.rs'));
  await tree.toggle('/src');
  expect(new FileTree(client, 's-refresh', left).folders).not.toContain('/src');
});

it('goes on and back in a text page by page, and stays where it is when the folder is read again', async () => {
  const { client } = await setUp();
  const tree = new FileTree(client, 's-refresh');
  await tree.reveal('/large_tool_results/call-7');
  const first = () => (tree.preview?.body.kind === 'text' ? tree.preview.body.rows[0]?.line : null);
  expect([first(), tree.hasEarlier]).toEqual([1, false]);
  await tree.later();
  await tree.refresh();
  expect([first(), tree.hasEarlier]).toEqual([2_001, true]);
  await tree.earlier();
  expect([first(), tree.hasEarlier]).toEqual([1, false]);
});
