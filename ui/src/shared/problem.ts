import type { CommandError, ErrorCode, Problem } from '../ipc/bindings';
import { i18n } from './i18n/i18n.svelte';
import { fill } from './i18n/phrase';

/** What Bosun has to say, as a sentence in the language of the window. */
export function say(problem: Problem): string {
  const values = Object.entries(problem).map(([name, value]) => [name, inWords(value)]);
  return fill(i18n.t.problems[problem.problem], Object.fromEntries(values) as Record<string, string>);
}

function inWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(inWords).join(i18n.t.app.between);
  return typeof value === 'object' && value !== null ? say(value as Problem) : String(value);
}

/** An error made here, of what Bosun has to say. */
export function told(code: ErrorCode, problem: Problem): CommandError {
  return { code, problem, message: say(problem) };
}

/** An error made here, of a sentence that is in the window's language already, or that is nobody's to translate. */
export function said(code: ErrorCode, detail: string): CommandError {
  return told(code, { problem: 'said', detail });
}
