import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { HookTrial } from '../../ipc/bindings';
import { i18n } from '../../shared/i18n/i18n.svelte';
import { draw, setUp } from '../../test/stage';
import HooksSection from './HooksSection.svelte';

afterEach(() => i18n.use('en', 'en'));

const button = (name: string) => screen.findByRole('button', { name });

const TRIAL: HookTrial = {
  event: '{ "trial": true }',
  exit_code: 0,
  signal: null,
  stdout: '',
  stderr: '',
  truncated: false,
  verdict: { verdict: 'goes_on' },
};

describe('hooks', () => {
  it('offer what happens when they fail only at points where there is a choice, and keep it', async () => {
    const scene = await setUp();
    const kept = vi.spyOn(scene.client, 'changeAdditions');
    draw(scene, HooksSection, {});
    await userEvent.click(await button('Edit format'));
    expect(screen.queryByRole('combobox', { name: 'If it fails' })).toBeNull();
    await userEvent.click(await button('Cancel'));
    await userEvent.click(await button('Edit guard'));
    const choice = await screen.findByRole<HTMLSelectElement>('combobox', { name: 'If it fails' });
    expect(choice.value).toBe('deny');
    expect(
      within(choice)
        .getAllByRole('option')
        .map((one) => one.textContent),
    ).toEqual(['Ask me', 'Refuse', 'Go on without it']);
    await userEvent.selectOptions(choice, 'Go on without it');
    await userEvent.click(await button('Save'));
    await waitFor(() => expect(kept.mock.calls.at(-1)?.[0]).toMatchObject({ hook: { on_failure: 'go_on' } }));
  });

  it('are tried when they are on, and say what Bosun would have done, in both languages', async () => {
    const scene = await setUp();
    const asked = vi.spyOn(scene.client, 'tryHook');
    const { unmount } = draw(scene, HooksSection, {});
    expect((await button('Try guard')).hasAttribute('disabled')).toBe(true);
    await userEvent.click(await button('Try format'));
    const trial = await screen.findByRole('region', { name: 'Trial' });
    for (const words of ['It failed. Bosun would have gone on without it.', 'Exit code 101', 'no such command']) {
      expect(trial.textContent).toContain(words);
    }
    expect(trial.textContent).toContain('"trial": true');
    expect(asked).toHaveBeenCalledWith(scene.workspace.projectId, 'format');
    await userEvent.click(within(trial).getByRole('button', { name: 'Close' }));
    expect(screen.queryByRole('region', { name: 'Trial' })).toBeNull();
    await unmount();
    i18n.use('zh-CN', 'zh-CN');
    draw(scene, HooksSection, {});
    await userEvent.click(await button('试运行 format'));
    const said = await screen.findByRole('region', { name: '试运行' });
    expect(said.textContent).toContain('它失败了。Bosun 会忽略它并继续。');
    expect(said.textContent).toContain('退出码 101');
  });

  const verdicts: [Partial<HookTrial>, string[]][] = [
    [{}, ['Bosun would have gone on.', 'Exit code 0', 'It wrote nothing.']],
    [{ verdict: { verdict: 'adds', text: 'look here' } }, ['would have given the model this', 'look here']],
    [{ verdict: { verdict: 'asks', reason: 'who knows' } }, ['would have asked you', 'who knows']],
    [{ exit_code: 2, verdict: { verdict: 'denies', reason: null } }, ['would have refused', 'Exit code 2']],
    [{ exit_code: null, signal: 9, truncated: true, stdout: 'half' }, ['Ended by signal 9', 'half', 'too much']],
  ];
  it.each(verdicts)('say of a trial %j what came of it', async (given, words) => {
    const scene = await setUp();
    scene.client.tryHook = () => Promise.resolve({ ...TRIAL, ...given });
    draw(scene, HooksSection, {});
    await userEvent.click(await button('Try format'));
    const trial = await screen.findByRole('region', { name: 'Trial' });
    for (const one of words) expect(trial.textContent).toContain(one);
  });
});
