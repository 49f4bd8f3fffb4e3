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
