import { expect, it } from 'vitest';
import type { ProviderView } from '../../ipc/bindings';
import { familyOf, formatOf } from './formats';

it.each([
  ['openai_chat', false, true, 'auto'],
  // What its address ends with made it that.
  ['openai_responses', false, true, 'auto'],
  ['openai_responses', true, true, 'openai_responses'],
  // A server that was found here is of its family without anybody's choice.
  ['ollama', false, true, 'ollama'],
  ['anthropic', true, true, 'anthropic'],
  ['anthropic', false, false, null],
  ['vertex', false, true, null],
] as const)('%s (chosen: %s, own: %s) is shown as %s', (family, chosen, custom, format) => {
  expect(formatOf({ family, chosen, custom } as ProviderView)).toBe(format);
});

it('goes by the address where nothing is chosen', () => {
  expect(familyOf('auto')).toEqual({ family: 'openai_chat', chosen: false });
  expect(familyOf('gemini')).toEqual({ family: 'gemini', chosen: true });
});
