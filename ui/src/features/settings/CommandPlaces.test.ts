import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { i18n } from '../../shared/i18n/i18n.svelte';
import { draw, setUp, type Scene } from '../../test/stage';
import CommandPlaces from './CommandPlaces.svelte';

afterEach(() => i18n.use('en', 'en'));

const boxes = () => screen.getAllByRole<HTMLInputElement>('checkbox');
const first = () => boxes()[0] as HTMLInputElement;
const idOf = ({ workspace }: Scene) => workspace.projects[0]?.id ?? '';

describe('where commands run', () => {
  it('is on this machine until a person chooses the sandbox for a project, and for that alone', async () => {
    const scene = await setUp();
    draw(scene, CommandPlaces, {});
    expect(boxes().map((box) => box.checked)).toEqual(scene.workspace.projects.map(() => false));
    await userEvent.click(first());
    await waitFor(() => expect(scene.workspace.sandboxes.holds(idOf(scene))).toBe(true));
    expect(boxes().map((box) => box.checked)).toEqual(scene.workspace.projects.map((_, at) => at === 0));
    await userEvent.click(first());
    await waitFor(() => expect(scene.workspace.sandboxes.holds(idOf(scene))).toBe(false));
  });

  it.each([
    ['en', 'Missing: bubblewrap is not installed on this machine; install it with apt-get install bubblewrap'],
    ['zh-CN', '缺少：这台电脑上没有安装 bubblewrap；请用 apt-get install bubblewrap 安装'],
  ] as const)('says in %s why it cannot be had, and lets what is on be turned off', async (language, words) => {
    const scene = await setUp();
    i18n.use(language, language);
    await scene.client.setCommandPlace(idOf(scene), 'sandbox');
    scene.client.sandboxProblem = () =>
      Promise.resolve({ problem: 'sandbox_missing', program: 'bubblewrap', remedy: 'apt-get install bubblewrap' });
    const { container } = draw(scene, CommandPlaces, {});
    await waitFor(() => expect(container.textContent?.replace(/\s+/g, ' ')).toContain(words));
    const locked = scene.workspace.projects.map((_, at) => at !== 0);
    await waitFor(() => expect(boxes().map((box) => box.disabled)).toEqual(locked));
  });

  it('stays as it was where the core refuses it', async () => {
    const scene = await setUp();
    scene.client.setCommandPlace = vi.fn(() => Promise.reject(new Error('no')));
    draw(scene, CommandPlaces, {});
    await userEvent.click(first());
    await waitFor(() => expect(first().checked).toBe(false));
    expect(scene.workspace.errors).toHaveLength(1);
  });

  it('is no choice where it is wanted of every project', async () => {
    const scene = await setUp();
    scene.client.sandboxedProjects = () => Promise.resolve({ all: true, projects: [] });
    draw(scene, CommandPlaces, {});
    await waitFor(() => expect(boxes().every((box) => box.checked && box.disabled)).toBe(true));
  });
});
