import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import type { ModelChoice, ModelRef, PriceView } from '../../ipc/bindings';
import { draw, setUp, type Scene } from '../../test/stage';
import ModelPicker from './ModelPicker.svelte';

const FREE: PriceView = { input: 0, output: 0, cache_read: 0, cache_write: 0, cache_write_hour: 0, audio: null };

function choice(provider: string, name: string, price: PriceView | null = null): ModelChoice {
  const abilities = { images: false, documents: false, audio: false, video: false, reasoning: false };
  return { model: { provider, name }, context_window: null, max_output: null, ...abilities, price, scripted: false };
}

const CLAUDE = { provider: 'anthropic', name: 'claude-opus-4-6' };

/** Two vendors with a key, and a model of the first at hand. */
async function drawn(lists: Record<string, () => Promise<ModelChoice[]>> = {}, chosen: ModelRef | null = CLAUDE) {
  const scene = await setUp('accounts');
  const asked = vi.spyOn(scene.client, 'listModels').mockImplementation(
    (id) =>
      (
        ({
          anthropic: () => Promise.resolve([choice('anthropic', 'claude-opus-4-6')]),
          openai: () => Promise.resolve(['gpt-5.4-mini', 'gpt-5.4'].map((name) => choice('openai', name))),
          ...lists,
        }) as Record<string, () => Promise<ModelChoice[]>>
      )[id]?.() ?? Promise.resolve([]),
  );
  const onChoose = vi.fn();
  draw(scene, ModelPicker, { chosen, onChoose });
  return { scene, asked, onChoose, field: await screen.findByRole('combobox') };
}

const option = (name: RegExp | string) => screen.findByRole('option', { name });
const names = () => screen.getAllByRole('option').map(({ textContent }) => textContent.trim());

describe('the list of models', () => {
  it('gives Enter to whoever lists the name that was typed', async () => {
    const { field, onChoose } = await drawn();
    await option('gpt-5.4-mini price unknown');
    await userEvent.type(field, 'gpt-5.4{Enter}');
    expect(onChoose).toHaveBeenCalledWith({ provider: 'openai', name: 'gpt-5.4' });
    expect(
      names()
        .slice(0, 3)
        .map((name) => name.split(' ')[0]),
    ).toEqual(['gpt-5.4', 'gpt-5.4-mini', 'Use']);
  });

  it('offers a name that nobody lists last, first at the provider that it sounds like', async () => {
    const { field, onChoose } = await drawn();
    await option('gpt-5.4-mini price unknown');
    await userEvent.type(field, 'gpt-5');
    const rows = names();
    expect(rows.findIndex((row) => row.startsWith('Use'))).toBe(2);
    expect(rows[2]).toMatch(/^Use “gpt-5” at OpenAI/);
    const group = screen.getByRole('group', { name: 'Not in a list' });
    expect(within(group).getAllByRole('option')).toHaveLength(rows.length - 2);
    await userEvent.type(field, '.9{Enter}');
    expect(onChoose).toHaveBeenCalledWith({ provider: 'openai', name: 'gpt-5.9' });
  });

  it('guesses nobody while a list is to come that may have the name', async () => {
    let come: (models: ModelChoice[]) => void = () => undefined;
    const { field, onChoose } = await drawn({ openai: () => new Promise((answer) => (come = answer)) });
    await userEvent.type(field, 'gpt-5.4{Enter}');
    expect(onChoose).not.toHaveBeenCalled();
    expect(screen.getByText('Looking for it in every list…')).toBeTruthy();
    come([choice('openai', 'gpt-5.4')]);
    await waitFor(() => expect(onChoose).toHaveBeenCalledWith({ provider: 'openai', name: 'gpt-5.4' }));
  });

  it('takes the row that the arrows went to at once', async () => {
    const { field, onChoose } = await drawn({ openai: () => new Promise(() => undefined) });
    await userEvent.type(field, 'gate-model{ArrowDown}{ArrowUp}{Enter}');
    expect(onChoose).toHaveBeenCalledWith({ provider: 'anthropic', name: 'gate-model' });
  });

  it('leaves the model as it is where nothing was typed', async () => {
    const { field, onChoose } = await drawn({}, { provider: 'openai', name: 'gpt-5.4' });
    await waitFor(() =>
      expect(screen.getByRole('option', { name: /^gpt-5.4 / }).getAttribute('aria-selected')).toBe('true'),
    );
    await userEvent.type(field, '{Enter}');
    expect(onChoose).toHaveBeenCalledWith({ provider: 'openai', name: 'gpt-5.4' });
  });

  it('says of every price that is not known that it is not', async () => {
    const local = (scene: Scene, custom: boolean) => {
      const others = scene.workspace.providers.filter(({ id }) => id !== 'ollama');
      const ollama = scene.workspace.providers.find(({ id }) => id === 'ollama');
      if (ollama) scene.workspace.providers = [...others, { ...ollama, custom, key: { source: 'keyring' } }];
    };
    for (const [custom, price, words] of [
      [false, FREE, 'here'],
      [true, null, 'here price unknown'],
      [true, FREE, 'here'],
    ] as const) {
      const scene = await setUp('accounts');
      local(scene, custom);
      vi.spyOn(scene.client, 'listModels').mockImplementation((id) =>
        Promise.resolve(id === 'ollama' ? [choice('ollama', 'here', price)] : []),
      );
      const { unmount } = draw(scene, ModelPicker, { chosen: null, onChoose: () => undefined });
      await option(words);
      unmount();
    }
  });

  it('asks each provider once, and anew where the person wants it', async () => {
    const { scene, asked, onChoose } = await drawn();
    const many = asked.mock.calls.length;
    draw(scene, ModelPicker, { chosen: null, onChoose });
    expect(asked).toHaveBeenCalledTimes(many);
    const [again] = screen.getAllByRole('button', { name: 'Reload the lists of models' });
    if (again) await userEvent.click(again);
    expect(asked).toHaveBeenCalledTimes(2 * many);
  });
});
