import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
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
    expect(field().value).toBe('gedit');
    scene.client.saveSettings = vi.fn(save);
    await scene.workspace.saveSettings({ theme: 'dark' });
    expect(scene.client.saveSettings).toHaveBeenCalledWith(expect.objectContaining({ editor: 'gedit' }));
  });
});
