import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { draw, setUp } from '../../test/stage';
import type { Listed } from './entries';
import FileList from './FileList.svelte';

const list = Array.from({ length: 260 }, (_, at): Listed => ({
  key: `k${at}`,
  path: `/made/${at}.ts`,
  pending: null,
  file: null,
  added: 1,
  removed: 0,
}));

it('draws of thousands as many as can be looked at, the chosen one among them, and more on demand', async () => {
  const scene = await setUp();
  const given = (chosen: string) => ({ list, chosen, onChoose: () => undefined });
  const { container, redraw } = draw(scene, FileList, given('k0'));
  const rows = () => container.querySelectorAll('li').length;
  expect(rows()).toBe(200);
  await redraw(given('k249'));
  expect(rows()).toBe(250);
  expect(container.querySelector('button.on')?.textContent).toContain('249.ts');
  await userEvent.click(container.querySelector('ul + button') as HTMLElement);
  expect(rows()).toBe(260);
  await redraw({ ...given('k0'), list: list.slice(0, 20) });
  expect(rows()).toBe(20);
  await redraw(given('k0'));
  expect(rows()).toBe(200);
});
