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

  /** Two lists that come when the test says so. */
  async function waiting() {
    const come: Record<string, (models: ModelChoice[]) => void> = {};
    const fail: Record<string, (error: unknown) => void> = {};
    const list = (id: string) => () =>
      new Promise<ModelChoice[]>((answer, refuse) => ([come[id], fail[id]] = [answer, refuse]));
    const drawing = await drawn({ anthropic: list('anthropic'), openai: list('openai') });
    const held = () => screen.queryByText('Looking for it in every list…') !== null;
    return { ...drawing, come, fail, held };
  }

  it('holds what was typed until the last list is there, and gives it to whoever has it', async () => {
    const { field, onChoose, come, held } = await waiting();
    await userEvent.type(field, 'gpt-5.4{Enter}');
    expect(held()).toBe(true);
    come['anthropic']?.([choice('anthropic', 'claude-opus-4-6')]);
    await option(/claude-opus|Use “gpt-5.4” at Anthropic/);
    expect([held(), onChoose.mock.calls.length]).toEqual([true, 0]);
    come['openai']?.([choice('openai', 'gpt-5.4')]);
    await waitFor(() => expect(onChoose).toHaveBeenCalledWith({ provider: 'openai', name: 'gpt-5.4' }));
    expect([held(), onChoose.mock.calls.length]).toEqual([false, 1]);
  });

  it('takes a name that a list has in full before the others are there', async () => {
    const { field, onChoose, come, held } = await waiting();
    come['openai']?.([choice('openai', 'gpt-5.4')]);
    await option(/^gpt-5.4 /);
    await userEvent.type(field, 'gpt-5.4{Enter}');
    expect(onChoose).toHaveBeenCalledWith({ provider: 'openai', name: 'gpt-5.4' });
    expect(held()).toBe(false);
  });

  it('lets go of what it held when the person writes on or goes to a row', async () => {
    const { field, onChoose, come, held } = await waiting();
    await userEvent.type(field, 'gpt-5{Enter}');
    expect(held()).toBe(true);
    await userEvent.type(field, '.4');
    expect(held()).toBe(false);
    await userEvent.type(field, '{Enter}');
    expect(held()).toBe(true);
    await userEvent.type(field, '{ArrowDown}');
    expect(held()).toBe(false);
    for (const id of ['anthropic', 'openai']) come[id]?.([choice(id, 'gpt-5.4')]);
    await waitFor(() => expect(screen.getAllByRole('option', { name: /^gpt-5.4 / })).toHaveLength(2));
    expect(onChoose).not.toHaveBeenCalled();
  });

  it('holds nothing longer than a list that fails', async () => {
    const { field, onChoose, come, fail } = await waiting();
    await userEvent.type(field, 'gate-model{Enter}');
    come['anthropic']?.([choice('anthropic', 'claude-opus-4-6')]);
    fail['openai']?.({ code: 'unavailable', message: 'nobody answers' });
    await waitFor(() => expect(onChoose).toHaveBeenCalledTimes(1));
    expect(onChoose.mock.calls[0]?.[0]).toMatchObject({ name: 'gate-model' });
  });

  it('leaves what is in use as it is at once, whatever is still to come', async () => {
    const { field, onChoose, held } = await waiting();
    await userEvent.type(field, '{Enter}');
    expect(onChoose).toHaveBeenCalledWith(CLAUDE);
    expect(held()).toBe(false);
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
