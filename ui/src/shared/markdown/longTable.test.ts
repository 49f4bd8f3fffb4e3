import { render } from '@testing-library/svelte';
import { tick } from 'svelte';
import { expect, it } from 'vitest';
import Markdown from './Markdown.svelte';

it('draws the first rows of an endless table, and more with each press until all stand there', async () => {
  const rows = Array.from({ length: 650 }, (_, at) => `| row ${at} |`);
  const { container, rerender } = render(Markdown, { text: ['| a |', '|---|', ...rows.slice(0, 99)].join('\n') });
  const drawn = () => container.querySelectorAll('tbody tr').length;
  const more = () => container.querySelector('button');
  const press = async () => {
    more()?.click();
    await tick();
  };
  expect([drawn(), more()]).toEqual([99, null]);

  await rerender({ text: ['| a |', '|---|', ...rows].join('\n') });
  expect([drawn(), container.textContent.includes('row 100')]).toEqual([100, false]);
  expect(more()?.textContent.trim()).toBe('Show 500 of 550 more rows');
  await press();
  expect([drawn(), more()?.textContent.trim()]).toEqual([600, 'Show the other 50 rows']);
  await press();
  expect([drawn(), more(), container.textContent.includes('row 649')]).toEqual([650, null, true]);
});
