import type { Workspace } from '../../app/workspace.svelte';
import type { PlanChange, Snapshot, Todo } from '../../ipc/bindings';
import { i18n } from '../../shared/i18n/i18n.svelte';

export type Change = (change: PlanChange) => void;

/** Changes the plan of a session. A todo that goes can be had back, as it was and where it stood. */
export async function changePlan(
  workspace: Workspace,
  { session: { id: session }, todos }: Snapshot,
  change: PlanChange,
): Promise<void> {
  const { client } = workspace;
  await workspace.run(async () => {
    await client.changePlan(session, change);
    const gone = change.change === 'drop' ? todos.find(({ id }) => id === change.id) : undefined;
    if (!gone) return;
    const undo = () => client.changePlan(session, { change: 'restore', id: gone.id });
    workspace.tell({ text: i18n.t.plan.edit.dropped(gone.content), undo });
  });
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
