import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { i18n } from '../../shared/i18n/i18n.svelte';
import { draw, setUp } from '../../test/stage';
import SandboxSection from './SandboxSection.svelte';

afterEach(() => i18n.use('en', 'en'));

describe('what holds commands and files', () => {
  it.each([
    ['en', 'For harbour-env, the current project.'],
    ['zh-CN', '以下为当前项目 harbour-env 的情况。'],
  ] as const)('is said in %s of the project at hand, by its name', async (language, words) => {
    const scene = await setUp();
    i18n.use(language, language);
    const { container } = draw(scene, SandboxSection, {});
    expect(container.querySelector('.at')?.textContent).toBe(words);
  });

  it('is said of no project where none is open, with the way to one', async () => {
    const scene = await setUp('noproject');
    const pick = vi.spyOn(scene.client, 'pickProject');
    const { container } = draw(scene, SandboxSection, {});
    expect(container.textContent).toContain('No project is open.');
    expect(container.querySelectorAll('.part')).toHaveLength(0);
    await userEvent.click(screen.getByRole('button', { name: 'Open folder…' }));
    expect(pick).toHaveBeenCalledOnce();
  });
});
