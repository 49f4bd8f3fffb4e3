import { cleanup, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import { i18n } from '../../shared/i18n/i18n.svelte';
import { draw, setUp, type Scene } from '../../test/stage';
import ProviderCard from './ProviderCard.svelte';

async function opened(scene: Scene, id: string) {
  const provider = scene.workspace.providers.find((one) => one.id === id);
  if (!provider) throw new Error(`no ${id} in this world`);
  const { redraw } = draw(scene, ProviderCard, { provider });
  await userEvent.click(screen.getByRole('button', { name: new RegExp(`^${provider.label}`) }));
  await userEvent.click(screen.getByText('Name and address'));
  const kept = vi.spyOn(scene.client, 'saveProvider');
  const called = vi.spyOn(scene.client, 'testProvider');
  return { provider, kept, called, redraw };
}

const field = (name: string | RegExp) => screen.getByLabelText<HTMLInputElement>(name);
const save = () => screen.getByRole<HTMLButtonElement>('button', { name: 'Save' });

async function write(name: string, words: string) {
  await userEvent.clear(field(name));
  await userEvent.type(field(name), words);
}

describe('a provider that is there', () => {
  it('gets another path at its host and keeps its key', async () => {
    const scene = await setUp('accounts');
    const { kept, called } = await opened(scene, 'attic');
    expect([field('Base URL').value, save().disabled]).toEqual(['http://10.0.0.7:8000/v1', true]);
    await write('Base URL', ' http://10.0.0.7:8000/v2 ');
    expect(screen.queryByText(/Keys and headers belong/)).toBeNull();
    await userEvent.click(save());
    await waitFor(() => expect(called).toHaveBeenCalledWith('attic', null));
    expect(kept).toHaveBeenCalledWith({
      id: 'attic',
      label: 'Attic',
      family: 'openai_chat',
      chosen: false,
      base_url: 'http://10.0.0.7:8000/v2',
      key: null,
    });
  });

  it('is told what becomes of its key at another host, and asked for one there', async () => {
    const scene = await setUp('accounts');
    const { kept } = await opened(scene, 'attic');
    await write('Base URL', 'https://attic.example/v1');
    screen.getByText(/those for 10\.0\.0\.7:8000 are removed, and attic\.example gets none/);
    const key = field('Key for attic.example, if it needs one');
    expect(key.type).toBe('password');
    await userEvent.type(key, 'sk-new');
    await userEvent.click(save());
    await waitFor(() => expect(kept).toHaveBeenCalledWith(expect.objectContaining({ id: 'attic', key: 'sk-new' })));
  });

  it('gets another name without a call that costs something', async () => {
    const scene = await setUp('accounts');
    const { kept, called } = await opened(scene, 'attic');
    const form = within(screen.getByRole('form', { name: 'Attic: Name and address' }));
    await userEvent.clear(form.getByLabelText('Name'));
    await userEvent.type(form.getByLabelText('Name'), 'Cellar');
    await userEvent.click(save());
    await waitFor(() => expect(kept).toHaveBeenCalledWith(expect.objectContaining({ id: 'attic', label: 'Cellar' })));
    await waitFor(() => expect(scene.workspace.providers.some(({ label }) => label === 'Cellar')).toBe(true));
    expect(called).not.toHaveBeenCalled();
  });

  it('of one’s own gets another format; a built-in one has its own', async () => {
    const scene = await setUp('accounts');
    const { kept } = await opened(scene, 'attic');
    await userEvent.selectOptions(field('Format'), 'Anthropic Messages');
    await userEvent.click(save());
    await waitFor(() =>
      expect(kept).toHaveBeenCalledWith(expect.objectContaining({ family: 'anthropic', chosen: true })),
    );
    cleanup();
    await opened(scene, 'anthropic');
    expect(screen.queryByLabelText('Format')).toBeNull();
  });

  it('that is built in goes back to how it came', async () => {
    const scene = await setUp('accounts');
    const { provider, redraw } = await opened(scene, 'openai');
    expect(screen.queryByRole('button', { name: 'Back to the default' })).toBeNull();
    await write('Base URL', 'https://gate.example/v1');
    await userEvent.click(save());
    const now = () => scene.workspace.providers.find(({ id }) => id === 'openai') ?? provider;
    await waitFor(() => expect(now().base_url).toBe('https://gate.example/v1'));
    await redraw({ provider: now() });
    await userEvent.click(screen.getByText('Name and address'));
    await userEvent.click(screen.getByRole('button', { name: 'Back to the default' }));
    await waitFor(() => expect(now().base_url).toBe(provider.base_url));
  });

  it('is said not to be encrypted where it is plain HTTP on another machine', async () => {
    const scene = await setUp('accounts');
    await opened(scene, 'attic');
    screen.getByText('not encrypted');
    screen.getByText(/on its way to 10\.0\.0\.7:8000 the conversation can be read, and so can the key/);
    i18n.use('zh-CN', 'zh-CN');
    await screen.findByText('未加密');
    cleanup();
    i18n.use('en', 'en');
    await opened(scene, 'anthropic');
    expect(screen.queryByText('not encrypted')).toBeNull();
    await write('Base URL', 'http://gate.example');
    await screen.findByText(/on its way to gate\.example:80/);
  });
});

it('at Vertex AI is told which project pays', async () => {
  const scene = await setUp('accounts');
  const { kept } = await opened(scene, 'vertex');
  await userEvent.type(field('Project'), 'acme-7');
  await userEvent.click(screen.getByRole('button', { name: 'Use it' }));
  await waitFor(() =>
    expect(kept).toHaveBeenCalledWith(
      expect.objectContaining({ base_url: 'https://aiplatform.googleapis.com/v1/projects/acme-7/locations/global' }),
    ),
  );
});
