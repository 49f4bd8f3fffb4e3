import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import type { NetworkSettings, SystemProxy } from '../../ipc/bindings';
import { NO_SETTINGS } from '../../ipc/recorded/models';
import { draw, setUp } from '../../test/stage';
import ModelNetwork from './ModelNetwork.svelte';
import ModelOptions from './ModelOptions.svelte';

async function drawn(system: SystemProxy, change: Partial<NetworkSettings> = {}) {
  const scene = await setUp();
  scene.client.systemProxy = () => Promise.resolve(system);
  draw(scene, ModelNetwork, {
    network: { ...NO_SETTINGS.network, ...change },
    save: () => Promise.resolve(true),
  });
  return screen.getByLabelText<HTMLInputElement>('Proxy');
}

const described = (field: HTMLElement) =>
  document.getElementById(field.getAttribute('aria-describedby') ?? '')?.textContent;

describe('the proxy that counts where none is set', () => {
  const cases: [SystemProxy, RegExp][] = [
    [{ source: 'none' }, /requests go directly/],
    [
      { source: 'environment', variable: 'HTTPS_PROXY', address: 'http://proxy:3128' },
      /^From HTTPS_PROXY: http:\/\/proxy:3128$/,
    ],
    [
      { source: 'desktop', desktop: 'GNOME', address: 'http://proxy:3128' },
      /^From the GNOME settings: http:\/\/proxy:3128$/,
    ],
    [
      { source: 'script', desktop: 'KDE' },
      /^The KDE settings choose the proxy with a script \(PAC\), which Bosun does not run/,
    ],
  ];
  it.each(cases)('is named with where it stands: %o', async (system, words) => {
    const field = await drawn(system);
    await waitFor(() => expect(described(field)).toMatch(words));
  });

  it('is not named beside one that is set', async () => {
    const field = await drawn({ source: 'none' }, { proxy: 'http://own:3128' });
    await waitFor(() => expect(field.value).toBe('http://own:3128'));
    expect(screen.queryByText(/requests go directly/)).toBeNull();
    expect(described(field)).toBeUndefined();
  });
});

describe('a proxy that wants a name and a password', () => {
  it('gets those that are kept, which go in and are taken away again', async () => {
    const scene = await setUp();
    const set = vi.spyOn(scene.client, 'setProxyLogin');
    draw(scene, ModelNetwork, {
      network: { ...NO_SETTINGS.network, proxy: 'http://proxy.example:3128' },
      save: () => Promise.resolve(true),
    });
    const user = await screen.findByRole('textbox', { name: 'User name for the proxy' });
    const password = screen.getByLabelText<HTMLInputElement>('Password for the proxy');
    expect(password.type).toBe('password');
    await userEvent.type(user, 'me');
    await userEvent.type(password, 'pass: word');
    await userEvent.click(screen.getByRole('button', { name: 'Save' }));
    await screen.findByText('Name and password are in the keyring.');
    expect(set).toHaveBeenLastCalledWith('me', 'pass: word');
    expect(password.value).toBe('');
    await userEvent.click(screen.getByRole('button', { name: 'Remove name and password' }));
    await screen.findByText(/Only if the proxy asks for them/);
    expect(set).toHaveBeenLastCalledWith('', '');
  });

  it('stays as it was stored where only its old login could not be let go of', async () => {
    const scene = await setUp();
    scene.host.world.modelSettings = { ...NO_SETTINGS, network: { ...NO_SETTINGS.network, proxy: 'http://old:3128' } };
    const { client } = scene;
    client.saveModelSettings = (settings) => {
      scene.host.world.modelSettings = settings;
      const why = { problem: 'keyring_is_locked' as const };
      return Promise.reject(Object.assign(new Error(), { problem: { problem: 'key_left', why } }));
    };
    draw(scene, ModelOptions, {});
    const field = await screen.findByLabelText<HTMLInputElement>('Proxy');
    await userEvent.clear(field);
    await userEvent.type(field, 'http://new:3128');
    await userEvent.tab();
    await waitFor(() => expect(scene.workspace.errors).toHaveLength(1));
    await waitFor(() => expect(field.value).toBe('http://new:3128'));

    client.saveModelSettings = () => Promise.reject(new Error('no'));
    await userEvent.clear(field);
    await userEvent.tab();
    await waitFor(() => expect(field.value).toBe('http://new:3128'));
  });

  it('is asked for none where there is no proxy', async () => {
    await drawn({ source: 'none' });
    expect(screen.queryByRole('textbox', { name: 'User name for the proxy' })).toBeNull();
  });
});
