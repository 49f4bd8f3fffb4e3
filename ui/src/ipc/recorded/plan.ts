/** What the recorded host does when a person changes the plan. */
import type { PlanChange, Todo } from '../bindings';
import type { UiClient } from '../client';
import type { Act } from '../recorded';
import type { Host } from './host';

export const plan = (host: Host, act: Act): Pick<UiClient, 'changePlan'> => ({
  changePlan: (session, change) =>
    act('changePlan', change, () =>
      host.emit(session, { type: 'todos_replaced', todos: changed(host.snapshot(session).todos, change, host) }),
    ),
});

function changed(todos: readonly Todo[], change: PlanChange, host: Host): Todo[] {
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
  }
}
