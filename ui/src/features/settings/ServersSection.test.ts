import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ServerView } from '../../ipc/bindings';
import { i18n } from '../../shared/i18n/i18n.svelte';
import { draw, setUp } from '../../test/stage';
import ServersSection from './ServersSection.svelte';

afterEach(() => i18n.use('en', 'en'));

const button = (name: string) => screen.findByRole('button', { name });

describe('servers of tools', () => {
  const wrong = [
    ['en', 'Add server', 'Save', 'Name', 'Cannot be the name'],
    ['zh-CN', '添加服务器', '保存', '名称', '不能作为服务器名称'],
  ] as const;

  it('say at the field what is wrong with it, in both languages, and go there', async () => {
    const scene = await setUp();
    for (const [language, add, save, name, words] of wrong) {
      i18n.use(language, language);
      const { unmount } = draw(scene, ServersSection, {});
      await userEvent.click(await button(add));
      await userEvent.click(await button(save));
      const field = screen.getByRole('textbox', { name });
      await waitFor(() => expect(field).toHaveProperty('ariaInvalid', 'true'));
      const said = document.getElementById(field.getAttribute('aria-describedby')?.split(' ')[0] ?? '');
      expect(said?.textContent?.toLowerCase()).toContain(words.toLowerCase());
      expect(document.activeElement).toBe(field);
      await unmount();
    }
  });

  it('show of a header that is kept its name alone, and leave it as it is', async () => {
    const scene = await setUp();
    const kept = vi.spyOn(scene.client, 'changeAdditions');
    draw(scene, ServersSection, {});
    await userEvent.click(await button('Edit wiki'));
    const value = await screen.findByPlaceholderText<HTMLInputElement>('in the keyring');
    expect([value.type, value.value]).toEqual(['password', '']);
    await userEvent.click(await button('Save'));
    expect(kept.mock.calls.at(-1)?.[0]).toMatchObject({
      was: 'wiki',
      server: { enabled: false, reach: { headers: [{ name: 'Authorization', value: null, in_database: false }] } },
    });
  });

  it.each([
    ['en', 'Edit docs', 'in the database', 'No keyring has taken the values that are in the database.'],
    ['zh-CN', '编辑 docs', '在数据库中', '密钥环尚未接收仍在数据库中的值'],
  ] as const)('say where the value of a variable is, in %s', async (language, edit, where, words) => {
    const scene = await setUp();
    i18n.use(language, language);
    const forms = await scene.client.additionForms();
    const servers = forms.servers.map((server) =>
      server.reach.reach === 'program' && server.name === 'docs'
        ? {
            ...server,
            reach: {
              ...server.reach,
              env: [...server.reach.env, { name: 'OLD', value: null, in_database: true }],
            },
          }
        : server,
    );
    vi.spyOn(scene.client, 'additionForms').mockResolvedValue({ ...forms, servers });
    const { container } = draw(scene, ServersSection, {});
    await userEvent.click(await button(edit));
    const value = await screen.findByPlaceholderText<HTMLInputElement>(where);
    expect([value.type, value.value]).toEqual(['password', '']);
    expect(screen.getAllByPlaceholderText(i18n.t.servers.env.kept)).toHaveLength(1);
    expect(container.textContent).toContain(words);
  });

  it('stay off where the person did not confirm in the dialog of the system', async () => {
    const scene = await setUp();
    scene.client.changeAdditions = () => Promise.reject(new Error('no'));
    draw(scene, ServersSection, {});
    const box = await screen.findByRole<HTMLInputElement>('checkbox', { name: 'Use: wiki' });
    await userEvent.click(box);
    await waitFor(() => expect(box.checked).toBe(false));
    expect(scene.workspace.errors).toHaveLength(1);
  });

  it('are checked one by one, in the words of the server', async () => {
    const scene = await setUp();
    const { container } = draw(scene, ServersSection, {});
    await userEvent.click(await button('Check search now'));
    await waitFor(() => expect(container.textContent).toContain('No such file or directory (os error 2)'));
    expect((await button('Check wiki now')).hasAttribute('disabled')).toBe(true);
  });

  it('are as they are in the session beside what a check found, and looked at again while they start', async () => {
    const scene = await setUp();
    const [sample] = await scene.client.sessionServers(scene.workspace.sessionId ?? '');
    if (!sample) throw new Error('no server');
    const view = (health: ServerView['health']): ServerView => ({ ...sample, name: 'search', health });
    const asked = vi.spyOn(scene.client, 'sessionServers').mockResolvedValueOnce([view({ health: 'starting' })]);
    asked.mockResolvedValue([view({ health: 'ready', tools: 3 })]);
    const { container } = draw(scene, ServersSection, {});
    await screen.findByText('starting');
    await screen.findByText('ready, 3 tools', {}, { timeout: 5000 });
    await userEvent.click(await button('Check search now'));
    await waitFor(() => expect(container.textContent).toContain('No such file or directory (os error 2)'));
    expect(container.textContent).toContain('ready, 3 tools');
    expect(asked).toHaveBeenCalledTimes(2);
  });
});
