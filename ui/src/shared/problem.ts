import type { CommandError, ErrorCode, Problem } from '../ipc/bindings';
import { i18n } from './i18n/i18n.svelte';
import { fill } from './i18n/phrase';

/** What Bosun has to say, as a sentence that stands alone, in the language of the window. */
export function say(problem: Problem): string {
  const words = phrase(problem);
  if (!beginsWithOurs(problem)) return problem.problem === 'said' ? words : ended(words);
  const sentence = words.charAt(0).toLocaleUpperCase(i18n.locale) + words.slice(1);
  return ended(sentence);
}

/** The same to go into another sentence: after a colon, in brackets, as a reason. */
export function phrase(problem: Problem): string {
  const values = Object.entries(problem).map(([name, value]) => [name, inWords(value)]);
  return fill(i18n.t.problems[problem.problem], Object.fromEntries(values) as Record<string, string>);
}

/** One sentence needs no full stop in a window; of several the last has one like the others. */
function ended(sentences: string): string {
  const areSeveral = /[\p{Ll})'"]\. \p{Lu}|。/u.test(sentences);
  return areSeveral && !/[.!?。！？]$/u.test(sentences) ? sentences + i18n.t.app.stop : sentences;
}

/** Whether the first word is Bosun's own: a path, a host or a provider's words stay as they are written. */
function beginsWithOurs(problem: Problem): boolean {
  const name = /^\{(\w+)\}/.exec(i18n.t.problems[problem.problem])?.[1];
  if (name === undefined) return true;
  const first = (problem as unknown as Record<string, unknown>)[name];
  return typeof first === 'object' && first !== null && beginsWithOurs(first as Problem);
}

function inWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(inWords).join(i18n.t.app.between);
  return typeof value === 'object' && value !== null ? phrase(value as Problem) : String(value);
}

/** An error made here, of what Bosun has to say. */
export function told(code: ErrorCode, problem: Problem): CommandError {
  return { code, problem, message: say(problem) };
}

/** One error of everything that went wrong at once, a line each. */
export function toldOf(code: ErrorCode, problems: Problem[]): CommandError {
  const [only, ...more] = problems;
  return only && more.length === 0 ? told(code, only) : said(code, problems.map(say).join('\n'));
}

/** An error made here, of a sentence that is in the window's language already, or that is nobody's to translate. */
export function said(code: ErrorCode, detail: string): CommandError {
  return told(code, { problem: 'said', detail });
}
