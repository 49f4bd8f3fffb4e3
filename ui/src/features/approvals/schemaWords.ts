/** What does not fit a tool's schema, in words. */
import type { Messages } from '../../shared/i18n/en';
import type { Problem } from './schemaCheck';
import type { Field } from './schemaForm';

export function worded(t: Messages, { code, path, expected }: Problem): string {
  const { problems, types, or, allArguments } = t.approvals;
  const named = expected.split(', ').map((type) => types[type as keyof typeof types]);
  return problems[code](path || allArguments, code === 'type' ? named.reduce(or) : expected);
}

/** The field that it is about; names may have any sign in them, so the longest that fits is meant. */
export function placeOf({ path }: Problem, fields: readonly Field[]): string | null {
  const isIn = (name: string) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`);
  const names = fields.map(({ name }) => name).filter(isIn);
  return names.sort((one, other) => other.length - one.length)[0] ?? null;
}
