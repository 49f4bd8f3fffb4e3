import type { PlanChange, Todo } from '../../ipc/bindings';

export type Change = (change: PlanChange) => void;

/** The place of a todo in the whole plan after a step up or down among the todos of its own lane; `null` at the end. */
export function stepTo(todos: readonly Todo[], todo: Todo, step: 1 | -1): number | null {
  const lane = todos.filter(({ status }) => status === todo.status);
  const beside = lane[lane.findIndex(({ id }) => id === todo.id) + step];
  if (!beside) return null;
  // The place is that of the plan without the todo, so stepping over a neighbour is its own place, whichever way.
  return todos.findIndex(({ id }) => id === beside.id);
}
