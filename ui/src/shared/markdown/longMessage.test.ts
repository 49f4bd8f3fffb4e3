import { render } from '@testing-library/svelte';
import { Lexer } from 'marked';
import { expect, it, vi } from 'vitest';
import Markdown from './Markdown.svelte';

it('reads nothing again of a message that is longer than what is drawn of it', async () => {
  const line = 'let one = another;\n';
  const text = '```\n' + line.repeat(Math.ceil((300 * 1024) / line.length));
  const { container, rerender } = render(Markdown, { text, isStreaming: true });
  const drawn = container.querySelector('code')?.textContent ?? '';
  expect(drawn.length).toBeGreaterThan(200 * 1024);
  const lex = vi.spyOn(Lexer.prototype, 'lex');
  await rerender({ text: text + line.repeat(100), isStreaming: true });
  await rerender({ text: text + line.repeat(200), isStreaming: false });
  expect(lex).not.toHaveBeenCalled();
  expect(container.querySelector('code')?.textContent).toBe(drawn);
  await rerender({ text: 'Another.', isStreaming: false });
  expect(container.textContent.trim()).toBe('Another.');
});
