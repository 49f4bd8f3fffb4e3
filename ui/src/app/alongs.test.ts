import { afterEach, expect, it } from 'vitest';
import { setUp } from '../test/stage';
import { isNamed } from '../features/chat/along.svelte';
import { Alongs } from './alongs.svelte';

afterEach(() => localStorage.clear());

it('has again after a restart what was to go along, and forgets what was sent', async () => {
  const { workspace } = await setUp();
  const key = workspace.draftKey;
  workspace.mention('/src/auth/clock.rs');
  await workspace.alongs.of(key).attach([new File(['words'], 'notes.txt', { type: 'text/plain' })]);
  const again = new Alongs(workspace).of(key);
  expect(again.files.map(({ name }) => name)).toEqual(['notes.txt']);
  const taken = again.take(workspace.drafts.of(key));
  expect(taken.mentions).toEqual([{ mention: 'path', path: '/src/auth/clock.rs' }]);
  expect(taken.attachments.map(({ name }) => name)).toEqual(['notes.txt']);
  expect(new Alongs(workspace).of(key).kept()).toEqual({ files: [], names: [] });
  taken.back();
  expect(new Alongs(workspace).of(key).kept().files).toHaveLength(1);
});

it('names a file with the line that is spoken of', async () => {
  const { workspace } = await setUp();
  workspace.mention('/src/auth/clock.rs', ':12');
  const text = workspace.drafts.of(workspace.draftKey);
  expect(text).toBe('@src/auth/clock.rs:12');
  expect(workspace.alongs.of(workspace.draftKey).take(text).mentions).toHaveLength(1);
});

it('reads nothing that is not as it was written', async () => {
  const { workspace } = await setUp();
  localStorage.setItem('bosun.alongs', JSON.stringify({ s1: { files: [{ name: 1 }, 'x'], names: 'y' }, s2: null }));
  const alongs = new Alongs(workspace);
  for (const key of ['s1', 's2']) expect(alongs.of(key).kept()).toEqual({ files: [], names: [] });
});

it('tells a name from the beginning of another', () => {
  for (const text of ['see @src', '@src, then', '看看 @src，然后', '(@src).', '@src:12 is wrong', '@src/a and @src'])
    expect(isNamed(text, 'src'), text).toBe(true);
  for (const text of ['see @src/auth', '@src.rs', '@srcs', 'src', '@src-old'])
    expect(isNamed(text, 'src'), text).toBe(false);
});
