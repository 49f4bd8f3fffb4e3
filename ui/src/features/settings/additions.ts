/** Servers and hooks between their forms and the core. */
import type { HookFailure, HookForm, HookPoint, Problem, SecretField, ServerForm } from '../../ipc/bindings';

/** In the order in which a turn comes to them. */
export const POINTS = [
  'turn_start',
  'before_model',
  'after_model',
  'before_tool',
  'after_tool',
  'subagent_start',
  'subagent_end',
  'compaction',
  'turn_end',
] as const satisfies readonly HookPoint[];

/** Whether a hook there is told of a call, and may be for some tools alone. */
export const isOfTools = (point: HookPoint): boolean => point === 'before_tool' || point === 'after_tool';

/** What can happen where a hook at that point fails; more than one of them is a choice. */
export function failuresAt(point: HookPoint): readonly HookFailure[] {
  switch (point) {
    case 'before_tool':
    case 'subagent_start':
      return ['ask', 'deny', 'go_on'];
    case 'turn_start':
    case 'before_model':
      return ['go_on', 'deny'];
    default:
      return ['go_on'];
  }
}

/** What does where nobody chose: the first of them. */
export const failureOf = ({ point, onFailure }: HookFields): HookFailure => {
  const can = failuresAt(point);
  return onFailure && can.includes(onFailure) ? onFailure : (can[0] ?? 'go_on');
};

export interface PairRow {
  name: string;
  value: string;
  /** It has a value, which is not shown. */
  isKept: boolean;
  /** No keyring took that value. */
  inDatabase?: boolean;
}

const rowsOf = (fields: readonly SecretField[]): PairRow[] =>
  fields.map(({ name, value, in_database }) => ({
    name,
    value: value ?? '',
    isKept: value === null,
    inDatabase: in_database,
  }));

/** Where a value is, is only told. */
const fieldsOf = (rows: readonly PairRow[]): SecretField[] =>
  filled(rows).map(({ name, value, isKept }) => ({
    name,
    value: value === '' && isKept ? null : value,
    in_database: false,
  }));

export type ReachKind = 'program' | 'address';

/** What stands in the fields of a server's form. */
export interface ServerFields {
  name: string;
  kind: ReachKind;
  command: string;
  args: string;
  env: PairRow[];
  url: string;
  headers: PairRow[];
}

export function serverFields(form: ServerForm | null): ServerFields {
  const fields: ServerFields = {
    name: form?.name ?? '',
    kind: 'program',
    command: '',
    args: '',
    env: [],
    url: '',
    headers: [],
  };
  if (form?.reach.reach === 'program') {
    const { command, args, env } = form.reach;
    return { ...fields, command, args: args.join('\n'), env: rowsOf(env) };
  }
  if (form?.reach.reach === 'address') {
    return { ...fields, kind: 'address', url: form.reach.url, headers: rowsOf(form.reach.headers) };
  }
  return fields;
}

/** A row without a name and a value is one that nobody filled. */
const filled = (rows: readonly PairRow[]) => rows.filter(({ name, value }) => name.trim() !== '' || value !== '');

/** `was` are the arguments that the form was filled with. */
export function serverForm(fields: ServerFields, enabled: boolean, was: readonly string[] = []): ServerForm {
  const { name, kind, command, url } = fields;
  if (kind === 'program') {
    const env = fieldsOf(fields.env);
    return { name, enabled, reach: { reach: 'program', command, args: argsOf(fields.args, was), env } };
  }
  return { name, enabled, reach: { reach: 'address', url, headers: fieldsOf(fields.headers) } };
}

/** What stands in the fields of a hook's form. */
export interface HookFields {
  name: string;
  point: HookPoint;
  tools: string;
  command: string;
  args: string;
  env: PairRow[];
  timeout: string;
  /** `null`: as is usual at its point. */
  onFailure: HookFailure | null;
}

export const hookFields = (form: HookForm | null): HookFields => ({
  name: form?.name ?? '',
  point: form?.point ?? 'after_tool',
  tools: form?.tools.join(', ') ?? '',
  command: form?.command ?? '',
  args: form?.args.join('\n') ?? '',
  env: rowsOf(form?.env ?? []),
  timeout: String(form?.timeout ?? 10),
  onFailure: form?.on_failure ?? null,
});

/** `was` are the arguments that the form was filled with. */
export const hookForm = (fields: HookFields, enabled: boolean, was: readonly string[] = []): HookForm => ({
  name: fields.name,
  enabled,
  point: fields.point,
  tools: isOfTools(fields.point) ? fields.tools.split(/[\s,]+/).filter(Boolean) : [],
  command: fields.command,
  args: argsOf(fields.args, was),
  env: fieldsOf(fields.env),
  // What is no number of seconds is no time limit, which the core says in its words.
  timeout: /^\d{1,9}$/.test(fields.timeout.trim()) ? Number(fields.timeout.trim()) : 0,
  // One that was chosen for another point may have no meaning at this one.
  on_failure: fields.onFailure && failuresAt(fields.point).includes(fields.onFailure) ? fields.onFailure : null,
});

/**
 * One argument a line, as it is written; empty lines are between them. An argument with lines of its own, and an empty one,
 * can be in a text of settings alone, and stay as they are while nobody touches the field.
 */
const argsOf = (text: string, was: readonly string[]): string[] =>
  text === was.join('\n') ? [...was] : text.split('\n').filter((line) => line.trim() !== '');

export type FormField = 'name' | 'command' | 'args' | 'env' | 'url' | 'headers' | 'point' | 'tools' | 'timeout';

/** The field that a problem is about; `null` where it is about no single one. */
export function fieldOf(problem: Problem): FormField | null {
  switch (problem.problem) {
    case 'server_name':
    case 'server_twice':
    case 'hook_name':
    case 'hook_twice':
      return 'name';
    case 'server_no_reach':
    case 'hook_no_command':
      return 'command';
    case 'server_url':
      return 'url';
    case 'server_header_missing':
      return 'headers';
    case 'variable_missing':
      return 'env';
    case 'server_value':
    case 'hook_value':
      return named(problem.field);
    case 'hook_timeout':
      return 'timeout';
    case 'hook_tools':
      return 'tools';
    case 'hook_failure':
      return 'point';
    default:
      return null;
  }
}

function named(field: string): FormField | null {
  if (field === 'secret_headers') return 'headers';
  if (field === 'secret_env') return 'env';
  return field === 'command' || field === 'args' || field === 'env' || field === 'headers' ? field : null;
}

/** What starts, as a person would type it. */
export const lineOf = (command: string, args: readonly string[]): string => [command, ...args].join(' ');
