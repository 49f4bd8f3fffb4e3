/**
 * The panes of each session as a person left them: what is open and chosen in them, and how far they were scrolled. For
 * this run only.
 */
import type { Place } from '../features/chat/scroll';
import { FilesLeft } from '../features/files/left.svelte';
import type { ChangeScope, SessionSummary } from '../ipc/bindings';
import type { Tab } from './layout.svelte';
import type { Workspace } from './workspace.svelte';

/** Of more sessions than so many those that were looked at longest ago begin anew. */
const MOST = 50;

/** The panes of one session. */
export class Left {
  /** The conversation shows only what was done for this todo. */
  todoFilter = $state<string | null>(null);
  /** The agent that is looked at; one that needs a person where it is none of them. */
  agent = $state('');
  /** Agents whose subagents are not shown. */
  folded = $state.raw<ReadonlySet<string>>(new Set());
  /** Where a person was in what each agent did; `null` is at its end. */
  readonly agentPlaces = new Map<string, Pick<Place, 'key' | 'top'> | null>();
  /** The file that the pane of changes shows; the first one where it is none of them. */
  chosenFile = $state('');
  scope = $state<ChangeScope>('session');
  readonly files = new FilesLeft();
  timeline = $state<'places' | 'ledger'>('places');
  /** How far each pane was scrolled, in pixels. */
  readonly tops = new Map<Tab, number>();
}

export class Panes {
  /** The one that was looked at last stands last. */
  private readonly all = new Map<string, Left>();
  /** Those of the session at hand. */
  readonly here = $derived.by(() => this.of(this.workspace.sessionId ?? ''));

  constructor(private readonly workspace: Workspace) {}

  of(session: string): Left {
    const left = this.all.get(session) ?? new Left();
    this.all.delete(session);
    this.all.set(session, left);
    for (const oldest of this.all.keys()) {
      if (this.all.size <= MOST) break;
      this.all.delete(oldest);
    }
    return left;
  }

  /** Forgets how the panes were of sessions that are not among these any more. */
  keepOnly(sessions: readonly SessionSummary[]): void {
    const there = new Set(sessions.map(({ id }) => id)).add(this.workspace.sessionId ?? '');
    for (const id of this.all.keys()) if (!there.has(id)) this.all.delete(id);
  }

  /** Leaves in the conversation only what was done for a todo, or all of it where that was so already. */
  filterBy(todo: string): void {
    this.here.todoFilter = this.here.todoFilter === todo ? null : todo;
    this.toConversation();
  }

  /** Goes to the conversation where the side pane lies over it: it comes into sight, and has the keys. */
  toConversation(): void {
    const { workspace } = this;
    if (!workspace.layout.isDrawer || !workspace.layout.drawerOpen) return;
    workspace.layout.drawerOpen = false;
    // Where something waits for an answer, its keys must not become text.
    if (!workspace.session?.waiting) workspace.isWriting++;
  }
}
