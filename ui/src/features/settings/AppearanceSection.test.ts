import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Settings } from '../../ipc/bindings';
import { i18n } from '../../shared/i18n/i18n.svelte';
import { told } from '../../shared/problem';
import { draw, setUp } from '../../test/stage';
import AppearanceSection from './AppearanceSection.svelte';

afterEach(() => i18n.use('en', 'en'));

const field = () => screen.getByRole<HTMLInputElement>('textbox', { name: i18n.t.settings.editor });

/** `{` stands for a key in what a person types. */
async function type(text: string) {
  await userEvent.clear(field());
  if (text !== '') await userEvent.type(field(), text.replaceAll('{', '{{'));
  await userEvent.tab();
}

describe('the editor', () => {
  it.each(['en', 'zh-CN'] as const)(
    'is a command that is kept as it was typed, and says in %s what it is for',
    async (language) => {
      const scene = await setUp();
      i18n.use(language, language);
      draw(scene, AppearanceSection, {});
      expect(field().value).toBe('');
      expect(document.getElementById(field().getAttribute('aria-describedby') ?? '')?.textContent).toBe(
        i18n.t.settings.editorHint,
      );
      await type(' code -g {file}:{line} ');
      await waitFor(() => expect(scene.workspace.settings.editor).toBe('code -g {file}:{line}'));
      await type('');
      await waitFor(() => expect(scene.workspace.settings.editor).toBe(''));
    },
  );

  it('is the one before where it was not confirmed, and is not asked for again with the next change', async () => {
    const scene = await setUp();
    await scene.workspace.saveSettings({ editor: 'gedit' });
    const save = scene.client.saveSettings.bind(scene.client);
    scene.client.saveSettings = vi.fn(() => Promise.reject(told('invalid', { problem: 'not_kept' })));
    draw(scene, AppearanceSection, {});
    await type('sh {file}');
    await waitFor(() => expect(scene.workspace.errors).toHaveLength(1));
    await waitFor(() => expect(field().value).toBe('gedit'));
    scene.client.saveSettings = vi.fn(save);
    await scene.workspace.saveSettings({ theme: 'dark' });
    expect(scene.client.saveSettings).toHaveBeenCalledWith(expect.objectContaining({ editor: 'gedit' }));
  });

  it.each([true, false])('does not ride along with what is chosen while it is asked about: %s', async (isConfirmed) => {
    const scene = await setUp();
    const save = scene.client.saveSettings.bind(scene.client);
    let answer = () => {};
    const asked = vi.fn(async (settings: Settings) => {
      if (settings.editor === scene.workspace.settings.editor) return save(settings);
      await new Promise<void>((resolve) => (answer = resolve));
      if (!isConfirmed) throw told('invalid', { problem: 'not_kept' });
      return save(settings);
    });
    scene.client.saveSettings = asked;
    draw(scene, AppearanceSection, {});
    await userEvent.type(field(), 'gedit');
    await userEvent.click(screen.getByRole('radio', { name: i18n.t.settings.themes.dark }));
    expect(scene.workspace.settings).toMatchObject({ theme: 'dark', editor: '' });
    expect(asked).toHaveBeenCalledOnce();
    answer();
    const editor = isConfirmed ? 'gedit' : '';
    await waitFor(() => expect(asked).toHaveBeenCalledTimes(2));
    expect(asked.mock.calls.map(([given]) => [given.editor, given.theme])).toEqual([
      ['gedit', 'system'],
      [editor, 'dark'],
    ]);
    await waitFor(() => expect(field().value).toBe(editor));
    expect(scene.workspace.settings).toMatchObject({ theme: 'dark', editor });
  });
});
