/** What is begun as an answer to a request, as it is kept until it is sent or given up. */
import type { DecisionKind } from '../../ipc/bindings';
import { isArgs, type Args } from './schemaForm';

/** What is in the form for other arguments. */
export interface Edits {
  tab: 'form' | 'json';
  json: string;
  args: Args;
  /** By field, what is written there and is no value of it. */
  broken: Record<string, string>;
}

export interface Begun {
  form: Exclude<DecisionKind, 'approve'>;
  text: string;
  edits: Edits | null;
}

export function isBegun(value: unknown): value is Begun {
  const { form, text, edits } = (value ?? {}) as Partial<Record<keyof Begun, unknown>>;
  const isForm = form === 'edit' || form === 'respond' || form === 'reject';
  return isForm && typeof text === 'string' && (edits === null || isEdits(edits));
}

function isEdits(value: unknown): value is Edits {
  const { tab, json, args, broken } = (value ?? {}) as Partial<Record<keyof Edits, unknown>>;
  const isTab = tab === 'form' || tab === 'json';
  return isTab && typeof json === 'string' && isArgs(args) && isArgs(broken) && Object.values(broken).every(isText);
}

const isText = (value: unknown): value is string => typeof value === 'string';
