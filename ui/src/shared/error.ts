import type { CommandError } from '../ipc/bindings';
import { i18n } from './i18n/i18n.svelte';

/** Whatever a promise was rejected with, as an error with a sentence for a person. */
export function asError(thrown: unknown): CommandError {
  if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) {
    const { code, message } = thrown as Partial<CommandError>;
    if (typeof message === 'string' && message) return { code: code ?? 'internal', message };
  }
  const message = typeof thrown === 'string' && thrown ? thrown : i18n.t.app.unknownError;
  return { code: 'internal', message };
}
