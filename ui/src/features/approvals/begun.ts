/** What is begun as an answer to a request, as it is kept until it is sent or given up. */
import type { DecisionKind } from '../../ipc/bindings';
import { isArgs, type Args } from './schema';

/** What is in the form for other arguments. */
export interface Edits {
  tab: 'form' | 'json';
  json: string;
  args: Args;
  /** By field, what is written there and is no value of it. */
  broken: Record<string, string>;
}

/** A text as what became of another: so much of its beginning and of its end, and what stands between them. */
type Splice = [head: number, between: string, tail: number];

/** Of the form, only what is not as the call has it: its arguments are with the request, and may be long or secret. */
interface StoredEdits extends Pick<Edits, 'tab' | 'broken'> {
  changed: Args;
  left: string[];
  /** The text, where it is not just that of these arguments. */
  json: Splice | null;
}

export interface Begun {
  form: Exclude<DecisionKind, 'approve'>;
  text: string;
  edits: Edits | null;
}

export type StoredBegun = Omit<Begun, 'edits'> & { edits: StoredEdits | null };

export const jsonOf = (args: Args): string => JSON.stringify(args, null, 2);

/** What is stored of it, for a call with these arguments. */
export function packed({ form, text, edits }: Begun, proposed: Args): StoredBegun {
  if (!edits) return { form, text, edits };
  const { tab, json, args, broken } = edits;
  const isSame = (name: string) =>
    Object.hasOwn(proposed, name) && JSON.stringify(proposed[name]) === JSON.stringify(args[name]);
  const changed = Object.fromEntries(Object.entries(args).filter(([name]) => !isSame(name)));
  const left = Object.keys(proposed).filter((name) => !Object.hasOwn(args, name));
  const usual = jsonOf(argsOf(proposed, changed, left));
  return { form, text, edits: { tab, changed, left, json: json === usual ? null : spliceOf(usual, json), broken } };
}

export function unpacked({ form, text, edits }: StoredBegun, proposed: Args): Begun {
  if (!edits) return { form, text, edits };
  const { tab, changed, left, json, broken } = edits;
  const args = argsOf(proposed, changed, left);
  const usual = jsonOf(args);
  const written = json ? usual.slice(0, json[0]) + json[1] + usual.slice(usual.length - json[2]) : usual;
  return { form, text, edits: { tab, json: written, args, broken } };
}

/** The order of the arguments stays that of the call. */
const argsOf = (proposed: Args, changed: Args, left: readonly string[]): Args => ({
  ...Object.fromEntries(Object.entries(proposed).filter(([name]) => !left.includes(name))),
  ...changed,
});

function spliceOf(before: string, after: string): Splice {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return [head, after.slice(head, after.length - tail), tail];
}

/** So much beside what was changed may be one word with it, in characters: the longest keys are tokens of a few thousand. */
const BESIDE = 4_000;

/** The texts of what is stored, with what stands beside a change: a key may have come to be of what was there and what was not. */
export function textsOf(stored: StoredBegun, { edits }: Begun): string[] {
  const splice = stored.edits?.json;
  if (!edits || !splice) return textsIn(stored);
  const [head, , tail] = splice;
  const { json } = edits;
  return [...textsIn(stored), json.slice(Math.max(0, head - BESIDE), json.length - tail + BESIDE)];
}

/** Every text in it, each by itself: as JSON, a key in it may not look like one. */
export const textsIn = (value: unknown): string[] =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(textsIn)
      : [];

export function isBegun(value: unknown): value is StoredBegun {
  const { form, text, edits } = (value ?? {}) as Partial<Record<keyof Begun, unknown>>;
  const isForm = form === 'edit' || form === 'respond' || form === 'reject';
  return isForm && typeof text === 'string' && (edits === null || isEdits(edits));
}

function isEdits(value: unknown): value is StoredEdits {
  const { tab, changed, left, json, broken } = (value ?? {}) as Partial<Record<keyof StoredEdits, unknown>>;
  const isTab = tab === 'form' || tab === 'json';
  const areArgs = isArgs(changed) && Array.isArray(left) && left.every(isText);
  const isBroken = isArgs(broken) && Object.values(broken).every(isText);
  return isTab && areArgs && isBroken && (json === null || isSplice(json));
}

const isSplice = (value: unknown): value is Splice =>
  Array.isArray(value) && Number.isInteger(value[0]) && isText(value[1]) && Number.isInteger(value[2]);

const isText = (value: unknown): value is string => typeof value === 'string';
