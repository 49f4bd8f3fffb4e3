import type { Workspace } from '../../app/workspace.svelte';
import type { PlanChange, Snapshot, Todo } from '../../ipc/bindings';
import type { Messages } from '../../shared/i18n/en';
import { i18n } from '../../shared/i18n/i18n.svelte';

/** Whether it was taken. */
export type Change = (change: PlanChange) => Promise<boolean>;

/** Changes the plan of a session. A todo that goes can be had back, as it was and where it stood. Whether it was taken. */
export async function changePlan(
  workspace: Workspace,
  { session: { id: session }, todos }: Snapshot,
  change: PlanChange,
): Promise<boolean> {
  const { client } = workspace;
  const isTaken = await workspace.run(async () => {
    await client.changePlan(session, change);
    const gone = change.change === 'drop' ? todos.find(({ id }) => id === change.id) : undefined;
    if (!gone) return true;
    const undo = () => client.changePlan(session, { change: 'restore', id: gone.id });
    workspace.tell({ text: i18n.t.plan.edit.dropped(gone.content), undo });
    return true;
  });
  return isTaken === true;
}

/** The step that a key asks for: Alt with an arrow, and nothing else held. */
export function stepOf({ key, altKey, ctrlKey, metaKey, shiftKey }: KeyboardEvent): 'up' | 'down' | null {
  if (!altKey || ctrlKey || metaKey || shiftKey) return null;
  return key === 'ArrowUp' ? 'up' : key === 'ArrowDown' ? 'down' : null;
}

/** The place of a todo in the whole plan after a step up or down among the todos of its own lane; `null` at the end. */
export function stepTo(todos: readonly Todo[], todo: Todo, step: 1 | -1): number | null {
  const lane = todos.filter(({ status }) => status === todo.status);
  const beside = lane[lane.findIndex(({ id }) => id === todo.id) + step];
  if (!beside) return null;
  // The place is that of the plan without the todo, so stepping over a neighbour is its own place, whichever way.
  return todos.findIndex(({ id }) => id === beside.id);
}

/** The place in the whole plan, without the todo, that is the one so far down its lane. */
export function placeTo(todos: readonly Todo[], todo: Todo, place: number): number | null {
  const rest = todos.filter(({ id }) => id !== todo.id);
  const lane = rest.filter(({ status }) => status === todo.status);
  const [next, last] = [lane[place], lane.at(-1)];
  if (next) return rest.indexOf(next);
  return last ? rest.indexOf(last) + 1 : null;
}

/** Where a todo stands in its lane after it was put to a place of the whole plan, for who does not see it. */
export function placeSaid(t: Messages['plan'], todos: readonly Todo[], id: string, to: number): string {
  const todo = todos.find((one) => one.id === id);
  if (!todo) return '';
  const lane = todos
    .filter((one) => one.id !== id)
    .toSpliced(to, 0, todo)
    .filter(({ status }) => status === todo.status);
  return t.edit.moved(todo.content, lane.indexOf(todo) + 1, lane.length, laneName(t, todo.status));
}

export const laneName = (t: Messages['plan'], status: Todo['status']): string =>
  ({ pending: t.pending, in_progress: t.inProgress, completed: t.completed })[status];
