import type { CommandError } from '../ipc/bindings';
import { i18n } from './i18n/i18n.svelte';
import { said, told } from './problem';

/** Whatever a promise was rejected with, as an error with a sentence for a person in the window's language. */
export function asError(thrown: unknown): CommandError {
  if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) {
    const { code, message, problem } = thrown as Partial<CommandError>;
    if (problem) return told(code ?? 'internal', problem);
    if (typeof message === 'string' && message) return said(code ?? 'internal', message);
  }
  return said('internal', typeof thrown === 'string' && thrown ? thrown : i18n.t.app.unknownError);
}
