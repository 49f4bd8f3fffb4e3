/** The plan of a session as a person changes it: by keys, by menus, and by what is dragged. */
import type { Workspace } from '../../app/workspace.svelte';
import type { PlanChange, Snapshot, Todo } from '../../ipc/bindings';
import { i18n } from '../../shared/i18n/i18n.svelte';
import { changePlan, laneName, placeSaid, placeTo } from './actions';
import { Dragging } from './dragging.svelte';

export class Moving {
  /** What came of it, for who does not see the cards. */
  said = $state('');
  readonly dragging = new Dragging({
    onMove: (id, place) => this.put(id, place),
    onRefused: (id) => this.tellStays(id),
    refusal: () => i18n.t.plan.edit.refused,
  });

  constructor(
    private readonly workspace: Workspace,
    private readonly snapshot: () => Snapshot | null,
  ) {}

  /** Whether it was taken. */
  change = async (made: PlanChange): Promise<boolean> => {
    const snapshot = this.snapshot();
    if (!snapshot) return false;
    const said = made.change === 'move' ? placeSaid(i18n.t.plan, snapshot.todos, made.id, made.to) : '';
    const isTaken = await changePlan(this.workspace, snapshot, made);
    if (isTaken) this.said = said;
    return isTaken;
  };

  private put(id: string, place: number): void {
    const todos = this.snapshot()?.todos ?? [];
    const todo = todos.find((one) => one.id === id);
    const to = todo && placeTo(todos, todo, place);
    if (typeof to === 'number') void this.change({ change: 'move', id, to });
  }

  private tellStays(id: string): void {
    const todo: Todo | undefined = this.snapshot()?.todos.find((one) => one.id === id);
    const { plan } = i18n.t;
    if (todo) this.said = plan.edit.stays(todo.content, laneName(plan, todo.status));
  }
}
