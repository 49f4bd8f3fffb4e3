import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { draw, setUp } from '../../test/stage';
import SkillsDialog from './SkillsDialog.svelte';

it('finds skills by their names and by what they are for', async () => {
  const scene = await setUp();
  const { entries } = await scene.client.listSkills(null);
  const [first, second] = entries;
  if (!first || !second) throw new Error('too few skills');
  draw(scene, SkillsDialog, { onClose: vi.fn() });
  const shown = (name: string) => screen.queryAllByText(name, { selector: '.entry .name' }).length > 0;
  await waitFor(() => expect(shown(first.name) && shown(second.name)).toBe(true));
  const field = screen.getByRole('searchbox', { name: 'Search skills' });
  await userEvent.type(field, second.name.toUpperCase());
  expect(shown(second.name)).toBe(true);
  expect(shown(first.name)).toBe(false);
  await userEvent.clear(field);
  await userEvent.type(field, first.description.slice(0, 20));
  expect(shown(first.name)).toBe(true);
  await userEvent.type(field, ' zzz');
  expect(screen.getByText('No skill matches.')).toBeTruthy();
});

it('leaves what was begun before the list came', async () => {
  const scene = await setUp();
  const list = await scene.client.listSkills(null);
  let come = () => {};
  scene.client.listSkills = () => new Promise((resolve) => (come = () => resolve(list)));
  const loaded = vi.spyOn(scene.client, 'loadSkill');
  draw(scene, SkillsDialog, { onClose: vi.fn() });
  await userEvent.click(screen.getByRole('button', { name: 'New skill' }));
  const name = screen.getByRole('textbox', { name: /^Name/ });
  come();
  await screen.findAllByText(list.entries[0]?.name ?? '', { selector: '.entry .name' });
  expect(name.isConnected).toBe(true);
  expect(loaded).not.toHaveBeenCalled();
});
