/** What was done for a todo: its calls, their files, lines and time. */
import type { Approval, Item, Todo, ToolItem } from '../../ipc/bindings';
import { argument, counts, displayPath } from '../chat/toolWords';
import { toolOf } from '../chat/groups';

export interface Evidence {
  calls: number;
  added: number;
  removed: number;
  files: string[];
  /** Subagents that worked on it. */
  agents: string[];
  /** Time the calls took, in milliseconds. */
  time: number;
  isWaiting: boolean;
  /** The calls themselves, oldest first. */
  rows: ToolItem[];
}

/** Whether a call or a request was made for this todo: both carry its words, or its id. */
export const isFor = (todo: Todo, name: string | null): boolean =>
  name !== null && (name === todo.id || name === todo.content);

export function evidence(todo: Todo, items: readonly Item[], approvals: readonly Approval[]): Evidence {
  const is = (name: string | null) => isFor(todo, name);
  const calls = items.map(toolOf).filter((tool) => tool !== null && is(tool.todo) && tool.tool_kind !== 'plan');
  const made: Evidence = { calls: 0, added: 0, removed: 0, files: [], agents: [], time: 0, isWaiting: false, rows: [] };
  for (const call of calls) {
    if (!call) continue;
    const { added, removed } = counts(call.figures);
    made.calls++;
    made.rows.push(call);
    made.added += added;
    made.removed += removed;
    if (call.started_at !== null && call.ended_at !== null) made.time += call.ended_at - call.started_at;
    if (call.tool_kind === 'edit') addTo(made.files, displayPath(argument(call.args, 'file_path')));
    if (call.tool_kind === 'delegate') addTo(made.agents, argument(call.args, 'subagent_type'));
  }
  made.isWaiting = approvals.some((approval) => is(approval.todo));
  return made;
}

function addTo(list: string[], value: string): void {
  if (value && !list.includes(value)) list.push(value);
}
