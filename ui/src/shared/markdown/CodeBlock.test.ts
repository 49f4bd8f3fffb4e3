import { render } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import CodeBlock from './CodeBlock.svelte';

it('marks what hides in code while it is being written', async () => {
  const { container, rerender } = render(CodeBlock, { code: 'if (a', info: 'rust', isSettled: false });
  const marks = () => [...container.querySelectorAll('.mark')].map((one) => one.textContent);
  expect(marks()).toEqual([]);
  await rerender({ code: 'if (a\u202e) {', isSettled: false });
  expect(marks()).toEqual(['RLO']);
  await rerender({ code: 'if (a\u202e) {}', isSettled: true });
  expect(marks()).toEqual(['RLO']);
});
