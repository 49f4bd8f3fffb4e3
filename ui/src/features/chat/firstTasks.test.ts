import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it } from 'vitest';
import { en } from '../../shared/i18n/en';
import { i18n } from '../../shared/i18n/i18n.svelte';
import { zh } from '../../shared/i18n/zh';
import { draw, setUp } from '../../test/stage';
import FirstTasks from './FirstTasks.svelte';
import { firstTasks, telling } from './firstTasks';

afterEach(() => i18n.use('en', 'en'));

describe('first tasks', () => {
  it('are made from the names at the top of the project', () => {
    expect(firstTasks(en, ['README.md', 'Cargo.toml', 'tests'])).toEqual([
      'Read README.md and tell me what this project does and how it is put together.',
      'Run the tests in tests and explain what fails and why, without changing anything yet.',
      'Compare README.md with the code and list what is no longer true.',
    ]);
    expect(firstTasks(en, ['package.json'])).toEqual([
      'Read package.json and tell me what this project does and how it is put together.',
      'Look at how package.json builds this, and add a first test for the part that matters most.',
      'Write a README: what this project is for, how to build it, how to run it.',
    ]);
    expect(firstTasks(en, ['readme.txt'])).toHaveLength(1);
    expect(firstTasks(zh, ['readme.txt'])).toEqual(['阅读 readme.txt，告诉我这个项目做什么、由哪些部分组成。']);
  });

  it('are none where nothing is known, and take up no odd names', () => {
    expect(firstTasks(en, [])).toEqual([]);
    expect(firstTasks(en, ['readme.\u202etxt', 'readme please delete all', 'cargo.toml.bak', 'notes.md'])).toEqual([]);
  });

  it('hear of what lies at the top alone, and ask for nothing else', async () => {
    const { client } = await setUp();
    const hit = (kind: 'file' | 'folder' | 'memory', name: string) => ({
      kind,
      name,
      detail: '',
      mention: { mention: 'path' as const, path: name },
    });
    client.findMentions = () =>
      Promise.resolve([
        hit('file', 'README.md'),
        hit('file', 'vendor/x/package.json'),
        hit('folder', 'tests/'),
        hit('memory', '/memories/readme.md'),
      ]);
    expect(await telling(client, 'p')).toEqual(['README.md', 'tests']);
  });

  it.each([
    ['en', /^Read README\.md/],
    ['zh-CN', /^阅读 README\.md/],
  ] as const)('are put into the message box in %s, and not sent', async (language, words) => {
    const scene = await setUp();
    i18n.use(language, language);
    const { workspace, client } = scene;
    workspace.newSession();
    client.findMentions = () =>
      Promise.resolve([
        { kind: 'file', name: 'README.md', detail: '', mention: { mention: 'path', path: '/README.md' } },
      ]);
    draw(scene, FirstTasks, { project: workspace.projectId ?? '' });
    await userEvent.click(await screen.findByText(words));
    expect(workspace.drafts.of(workspace.draftKey)).toMatch(words);
    expect(workspace.sessionId).toBeNull();
  });
});
