import { fireEvent, screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import { draw, setUp, type Scene } from '../../test/stage';
import ModelEffort from '../chat/ModelEffort.svelte';
import ProjectModels from './ProjectModels.svelte';

const haiku = { provider: 'anthropic', name: 'claude-haiku' };
const ids = ({ workspace }: Scene) => workspace.projects.map(({ id }) => id);
/** The project at hand, in which a session is about to begin. */
function beginning({ workspace }: Scene): string {
  workspace.newSession();
  return workspace.projectId ?? '';
}

/** What the menu shows once the models are listed; asking for its role takes long in so many rows. */
const shown = (selector: string, words: RegExp) =>
  waitFor(() => {
    const found = [...document.querySelectorAll<HTMLElement>(selector)].find((one) => words.test(one.textContent));
    if (!found) throw new Error(`no ${selector} says ${words}`);
    return found;
  });

describe('the model of a project', () => {
  it('is chosen for one project, and is that of all again', async () => {
    const scene = await setUp();
    const [first = '', second = ''] = ids(scene);
    draw(scene, ProjectModels, {});
    const of = () => screen.getAllByLabelText(/^Model for new sessions in/);
    expect(of().map((button) => button.textContent?.trim())).toEqual(ids(scene).map(() => 'Same as all projects'));
    await userEvent.click(of()[0] as HTMLElement);
    await fireEvent.click(await shown('[role=option]', /claude-haiku/));
    await waitFor(() => expect(scene.workspace.projectModels.of(first)).toEqual({ model: haiku, effort: null }));
    expect(scene.workspace.projectModels.of(second)).toBeNull();
    await userEvent.selectOptions(screen.getByLabelText(/^Thinking in new sessions in/), 'high');
    await waitFor(() => expect(scene.workspace.projectModels.of(first)).toEqual({ model: haiku, effort: 'high' }));
    await userEvent.click(of()[0] as HTMLElement);
    await fireEvent.click(await shown('.menu button', /Same as all projects/));
    await waitFor(() => expect(scene.workspace.settings.projects).toEqual({}));
  });

  it('is what its new sessions begin with, and no other’s', async () => {
    const scene = await setUp();
    const { workspace, client } = scene;
    const project = beginning(scene);
    const usual = workspace.settings.model;
    await workspace.projectModels.save(project, { model: haiku, effort: 'low' });
    expect(workspace.model).toEqual(haiku);
    const create = vi.spyOn(client, 'createSession');
    await workspace.sending.send('hello');
    expect(create).toHaveBeenLastCalledWith(project, haiku);
    workspace.enterProject(ids(scene).find((id) => id !== project) ?? '');
    workspace.newSession();
    expect(workspace.model).toEqual(usual);
  });

  it('is what is chosen before a session is there, where the project has its own', async () => {
    const scene = await setUp();
    const { workspace } = scene;
    const project = beginning(scene);
    const usual = workspace.settings.model;
    await workspace.projectModels.save(project, { model: haiku, effort: 'low' });
    const other = { provider: 'anthropic', name: 'claude-opus' };
    await workspace.chooseModel(other);
    expect(workspace.projectModels.of(project)).toEqual({ model: other, effort: 'low' });
    expect(workspace.settings.model).toEqual(usual);
  });

  it('thinks as much as was set for it, and that can be changed before a session is there', async () => {
    const scene = await setUp();
    const { workspace, client } = scene;
    const project = beginning(scene);
    await workspace.projectModels.save(project, { model: haiku, effort: 'low' });
    const others = vi.spyOn(client, 'saveModelSettings');
    draw(scene, ModelEffort, {});
    const level = (name: string) => screen.getByRole<HTMLInputElement>('radio', { name });
    expect(level('Low').checked).toBe(true);
    await userEvent.click(level('Maximum'));
    await waitFor(() => expect(workspace.projectModels.of(project)).toEqual({ model: haiku, effort: 'max' }));
    expect(others).not.toHaveBeenCalled();
  });

  it('thinks as the model is set to where nothing was set for it, and says so', async () => {
    const scene = await setUp();
    const { workspace, client } = scene;
    const project = beginning(scene);
    await workspace.projectModels.save(project, { model: haiku, effort: 'low' });
    const settings = await client.modelSettings();
    client.modelSettings = async () => ({ ...settings, efforts: [{ model: haiku, effort: 'high' }] });
    draw(scene, ModelEffort, {});
    const usual = await screen.findByRole<HTMLInputElement>('radio', { name: 'As set (High)' });
    expect(usual.checked).toBe(false);
    await userEvent.click(usual);
    await waitFor(() => expect(workspace.projectModels.of(project)).toEqual({ model: haiku, effort: null }));
    expect(usual.checked).toBe(true);
  });

  it('has no "off" where its model always thinks, but the least', async () => {
    const scene = await setUp();
    const { workspace } = scene;
    const project = beginning(scene);
    await workspace.projectModels.save(project, {
      model: { provider: 'anthropic', name: 'claude-opus' },
      effort: 'off',
    });
    draw(scene, ModelEffort, {});
    const least = await screen.findByRole<HTMLInputElement>('radio', { name: 'Minimal' });
    expect(least.checked).toBe(true);
    expect(screen.queryByRole('radio', { name: 'Off' })).toBeNull();
    await workspace.projectModels.save(project, { model: haiku, effort: 'off' });
    await screen.findByRole('radio', { name: 'Off' });
    expect(screen.queryByRole('radio', { name: 'Minimal' })).toBeNull();
    draw(scene, ProjectModels, {});
    const levels = () => {
      const [select] = screen.getAllByLabelText(/^Thinking in new sessions in/);
      return [...(select as HTMLSelectElement).options].map(({ text }) => text);
    };
    await waitFor(() => expect(levels()).toContain('Off'));
    await workspace.projectModels.save(project, {
      model: { provider: 'anthropic', name: 'claude-opus' },
      effort: 'off',
    });
    await waitFor(() => expect(levels()).toContain('Minimal'));
  });

  it('offers the levels that come to something, each once, and says where none does', async () => {
    const scene = await setUp();
    const { workspace, client } = scene;
    const project = beginning(scene);
    const of = (name: string) => ({ provider: 'anthropic', name });
    draw(scene, ModelEffort, {});
    const offered = () => screen.getAllByRole('radio').map((radio) => radio.parentElement?.textContent?.trim());
    await workspace.projectModels.save(project, { model: of('deepseek-v4'), effort: 'medium' });
    await waitFor(() => expect(offered()).toEqual(['Default', 'Off', 'Low', 'High', 'Maximum']));
    // What was chosen before comes to the same.
    expect(screen.getByRole<HTMLInputElement>('radio', { name: 'High' }).checked).toBe(true);
    await workspace.projectModels.save(project, { model: of('qwen3.7-max'), effort: 'max' });
    await waitFor(() => expect(offered()).toEqual(['Default', 'Off', 'On']));
    expect(screen.getByRole<HTMLInputElement>('radio', { name: 'On' }).checked).toBe(true);
    await workspace.projectModels.save(project, { model: of('llama3'), effort: 'high' });
    await screen.findByText(/Bosun sends this server no level/);
    expect(screen.queryAllByRole('radio')).toEqual([]);
    draw(scene, ProjectModels, {});
    await waitFor(() => expect(screen.queryByLabelText(/^Thinking in new sessions in/)).toBeNull());
    expect((await client.modelSettings()).efforts).toEqual([]);
  });
});
