/** What was done for a todo: counted by the core over the whole session, with the calls that are at hand. */
import type { Approval, Item, Snapshot, Todo, TodoEvidence, ToolItem } from '../../ipc/bindings';
import { toolOf } from '../chat/groups';

export interface Evidence extends TodoEvidence {
  isWaiting: boolean;
  /** Its calls among the rows that are loaded, oldest first. */
  rows: ToolItem[];
}

const NOTHING: Omit<TodoEvidence, 'todo'> = {
  calls: 0,
  failed: 0,
  files: [],
  file_count: 0,
  added: 0,
  removed: 0,
  agents: [],
  ran_ms: 0,
  input_tokens: 0,
  output_tokens: 0,
  cost: null,
};

/** Whether a row was made for this todo. */
export const isFor = (todo: Todo, item: Item): boolean => toolOf(item)?.todos.includes(todo.id) === true;

/** A request carries the words of its todo, as they were when it was asked. */
const asksFor = (todo: Todo, approval: Approval): boolean => approval.todo === todo.content;

type Known = Pick<Snapshot, 'evidence' | 'items' | 'approvals'>;

export function evidence(todo: Todo, { evidence: known, items, approvals }: Known): Evidence {
  const rows = items.filter((item) => isFor(todo, item)).map(toolOf);
  return {
    ...(known.find((one) => one.todo === todo.id) ?? { todo: todo.id, ...NOTHING }),
    isWaiting: approvals.some((approval) => asksFor(todo, approval)),
    rows: rows.filter((tool) => tool !== null && tool.tool_kind !== 'plan') as ToolItem[],
  };
}
