/** A tool call in words: which sentence, with which objects. The objects are shown as code and never trusted. */
import type { Figure, ToolItem } from '../../ipc/bindings';
import type { Messages } from '../../shared/i18n/en';
import type { Formats } from '../../shared/i18n/formats';
import { fill } from '../../shared/i18n/phrase';

export type Tense = 'plan' | 'doing' | 'done';

export interface Phrase {
  template: string;
  values: Record<string, string>;
}

/** Places that are drawn as code; the others are plain words. */
const WORDS = new Set(['task']);
export const isCode = (slot: string): boolean => !WORDS.has(slot);

/** Roots of the path space that are no part of the project. */
const MOUNTS = ['/memories/', '/skills/', '/conversation_history/', '/large_tool_results/', '/_'];

/** A path of the agent's as a person writes it: project files without the leading slash. */
export function displayPath(path: string): string {
  if (path === '/' || path === '' || path === '.') return '/';
  return MOUNTS.some((mount) => path.startsWith(mount)) ? path : path.replace(/^\/+/, '');
}

export interface Call {
  name: string;
  args: unknown;
  /** The subagent that it sent out waits for a person. */
  isHeldUp?: boolean;
}

export function phrase(t: Messages, call: Call, tense: Tense): Phrase {
  const arg = (name: string) => argument(call.args, name);
  const said = (key: keyof Messages['tools'], values: Record<string, string>): Phrase => ({
    template: t.tools[key][tense],
    values,
  });
  const path = displayPath(arg('path'));
  switch (call.name) {
    case 'ls':
      return said('ls', { path });
    case 'read_file':
    case 'write_file':
    case 'edit_file':
    case 'delete':
      return said(call.name, { path: displayPath(arg('file_path') || arg('path')) });
    case 'glob':
      return said(path === '/' ? 'glob' : 'glob_in', { pattern: arg('pattern'), path });
    case 'grep': {
      const where = [path === '/' ? '' : path, arg('glob')].filter(Boolean).join('/');
      return said(where ? 'grep_in' : 'grep', { pattern: arg('pattern'), path: where });
    }
    case 'execute':
      return said('execute', { command: arg('command') });
    case 'write_todos':
      return said('write_todos', {});
    case 'start_async_task':
      return said('start_async_task', {
        agent: arg('subagent_type') || 'general-purpose',
        task: firstLine(arg('description')),
      });
    case 'update_async_task':
      return said('update_async_task', { task: firstLine(arg('message')) });
    case 'check_async_task':
    case 'cancel_async_task':
    case 'list_async_tasks':
      return said(call.name, {});
    case 'task':
      return said(call.isHeldUp ? 'task_waiting' : 'task', {
        agent: arg('subagent_type') || 'general-purpose',
        task: firstLine(arg('description')),
      });
    default:
      return said('other', { tool: call.name });
  }
}

/** The same as one string, for labels and announcements. */
export function sentence(t: Messages, call: Call, tense: Tense): string {
  const { template, values } = phrase(t, call, tense);
  return fill(template, values);
}

/** How far a call has come, wherever it is shown. */
type Progress = Pick<ToolItem, 'state' | 'started_at'>;

/** A call that waits for an answer, or never ran, is told as what it would do; one that was stopped, as what it did. */
export function tenseOf({ state, started_at }: Progress): Tense {
  switch (state) {
    case 'proposed':
    case 'running':
      return 'doing';
    case 'failed':
    case 'cancelled':
      return started_at === null ? 'plan' : 'done';
    case 'done':
      return 'done';
    case 'waiting':
    case 'rejected':
    case 'answered':
    case 'unknown':
      return 'plan';
  }
}

/** It was at work when a person stopped it: what it did until then stays, and nothing is wrong. */
const wasStopped = ({ state, started_at }: Progress): boolean => state === 'cancelled' && started_at !== null;

/** How it stands with a call, where that is worth a word. */
export function stateWord(t: Messages, call: Progress): string {
  if (wasStopped(call)) return t.toolStates.stopped;
  if (call.state === 'failed' && call.started_at === null) return t.toolStates.notRun;
  return call.state === 'done' ? '' : t.toolStates[call.state];
}

/** What is written at a row's right: its figures, its time where that is worth knowing, its state where it is not done. */
export function figureWords(t: Messages, f: Formats, tool: ToolItem, now: number): string[] {
  const words = tool.figures.map((figure) => figureWord(t, f, figure)).filter((word) => word !== '');
  if (tool.state === 'running' && tool.started_at !== null) words.push(f.clock(now - tool.started_at));
  else if (hasTime(tool)) words.push(f.duration((tool.ended_at ?? 0) - (tool.started_at ?? 0)));
  const state = tool.state === 'running' ? '' : stateWord(t, tool);
  if (state !== '') words.push(state);
  if (isEdited(tool)) words.push(t.rows.edited);
  return words;
}

/** The arguments that it ran with, or will: the model's own, unless others were put in their place. */
export const ran = ({ args, decision }: Pick<ToolItem, 'args' | 'decision'>): unknown =>
  decision?.decision.decision === 'edit' ? decision.decision.args : args;

/** Whether it ran, or will, with other arguments than the model proposed. */
const isEdited = ({ decision }: ToolItem) => decision?.decision.decision === 'edit' && decision.by.by === 'person';

function hasTime(tool: ToolItem): boolean {
  const isTimed = tool.tool_kind === 'execute' || tool.tool_kind === 'delegate' || isSearch(tool.name);
  return isTimed && tool.started_at !== null && tool.ended_at !== null;
}

export const isSearch = (name: string): boolean => name === 'grep' || name === 'glob';

/** Lines added and removed are drawn in their colours and not worded. */
function figureWord(t: Messages, f: Formats, figure: Figure): string {
  switch (figure.figure) {
    case 'lines':
    case 'matches':
    case 'files':
    case 'entries':
      return t.figures[figure.figure](figure.value);
    case 'exit_code':
      return figure.value === 0 ? '' : t.figures.exit(figure.value);
    case 'todos':
      return t.figures.todos(figure.value.done, figure.value.total);
    case 'media':
      return `${t.figures.media[figure.value.kind]} · ${f.bytes(figure.value.size)}`;
    case 'signal':
      return t.figures.signal(figure.value);
    case 'timed_out':
    case 'broke_off':
    case 'truncated':
    case 'link_broken':
      return t.figures[figure.figure];
    case 'added':
    case 'removed':
      return '';
  }
}

/** Lines added and removed by a call. */
export function counts(figures: readonly Figure[]): { added: number; removed: number } {
  const of = (kind: 'added' | 'removed') =>
    figures.reduce((sum, figure) => (figure.figure === kind ? sum + figure.value : sum), 0);
  return { added: of('added'), removed: of('removed') };
}

export function argument(args: unknown, name: string): string {
  if (typeof args !== 'object' || args === null || !Object.hasOwn(args, name)) return '';
  const value = (args as Record<string, unknown>)[name];
  return typeof value === 'string' ? value : '';
}

const firstLine = (text: string) => text.trim().split('\n')[0] ?? '';
