/** What the recorded host does when a person changes the plan. */
import type { PlanChange, Todo } from '../bindings';
import type { UiClient } from '../client';
import type { Act } from '../recorded';
import type { Host } from './host';

export function plan(host: Host, act: Act): Pick<UiClient, 'changePlan'> {
  /** The plan as it was before the person dropped a line of it, by the line. */
  const dropped = new Map<string, readonly Todo[]>();
  return {
    changePlan: (session, change) =>
      act('changePlan', change, () => {
        const { todos } = host.snapshot(session);
        if (change.change === 'drop') dropped.set(change.id, todos);
        const then = change.change === 'restore' ? dropped.get(change.id) : undefined;
        host.emit(session, { type: 'todos_replaced', todos: changed(todos, change, host, then) });
      }),
  };
}

function changed(todos: readonly Todo[], change: PlanChange, host: Host, then: readonly Todo[] = []): Todo[] {
  switch (change.change) {
    case 'add':
      return [...todos, { id: host.newId(), content: change.content, status: 'pending' }];
    case 'reword':
      return todos.map((todo) => (todo.id === change.id ? { ...todo, content: change.content } : todo));
    case 'drop':
      return todos.filter(({ id }) => id !== change.id);
    case 'move': {
      const moved = todos.filter(({ id }) => id === change.id);
      return todos.filter(({ id }) => id !== change.id).toSpliced(change.to, 0, ...moved);
    }
    case 'restore': {
      const was = then.findIndex(({ id }) => id === change.id);
      // Behind the nearest line of those before it that is still there.
      const above = then.slice(0, Math.max(0, was)).findLast((known) => todos.some(({ id }) => id === known.id));
      const at = todos.findIndex(({ id }) => id === above?.id) + 1;
      return was < 0 ? [...todos] : todos.toSpliced(at, 0, ...then.slice(was, was + 1));
    }
  }
}
