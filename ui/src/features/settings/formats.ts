/** What a server of one's own can be said to speak. What a built-in provider speaks is not for a person to say. */
import type { ProviderFamily, ProviderView } from '../../ipc/bindings';

export const FORMATS = ['auto', 'anthropic', 'openai_responses', 'openai_chat', 'gemini', 'ollama'] as const;
export type Format = (typeof FORMATS)[number];

/**
 * The format of a server of one's own: of OpenAI's two the address decides, unless the person did. Null for what nobody can
 * choose.
 */
export function formatOf({ family, chosen, custom }: ProviderView): Format | null {
  if (!custom) return null;
  const isOpenAi = family === 'openai_chat' || family === 'openai_responses';
  return isOpenAi && !chosen ? 'auto' : (FORMATS.find((format) => format === family) ?? null);
}

/** What is kept of a format. Where nothing is chosen the older one of OpenAI's two is meant, unless the address says else. */
export function familyOf(format: Format): { family: ProviderFamily; chosen: boolean } {
  return { family: format === 'auto' ? 'openai_chat' : format, chosen: format !== 'auto' };
}
