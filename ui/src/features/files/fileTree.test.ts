import { expect, it } from 'vitest';
import { setUp } from '../../test/stage';
import { FileTree } from './fileTree.svelte';

it('opens the folders that lead to a file, and shows it', async () => {
  const { client } = await setUp();
  const tree = new FileTree(client, 's-refresh');
  await tree.reveal('/src/auth/clock.rs');
  expect([tree.chosen, tree.preview?.path]).toEqual(['/src/auth/clock.rs', '/src/auth/clock.rs']);
  expect(tree.folders).toEqual(expect.arrayContaining(['/', '/src', '/src/auth']));
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
