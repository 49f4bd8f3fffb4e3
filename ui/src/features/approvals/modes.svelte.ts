/** The mode of the session at hand; of the session to come until there is one. The core keeps and enforces it. */
import { untrack } from 'svelte';
import type { ApprovalMode } from '../../ipc/bindings';
import type { UiClient } from '../../ipc/client';
import type { Sandboxes } from './sandboxes.svelte';

export const MODES: readonly ApprovalMode[] = ['plan_only', 'ask', 'edits', 'sandbox'];

/** What the modes hang on. */
interface Place {
  sessionId: string | null;
  projectId: string | null;
  sandboxes: Pick<Sandboxes, 'holds' | 'choose'>;
  run: <T>(action: () => Promise<T>) => Promise<T | undefined>;
}

export class Modes {
  private known = $state.raw<ReadonlyMap<string, ApprovalMode>>(new Map());
  private projects = $state.raw<ReadonlyMap<string, ApprovalMode>>(new Map());
  /** Chosen for the session that does not exist yet, of each project. */
  private coming = $state.raw<ReadonlyMap<string | null, ApprovalMode>>(new Map());

  constructor(
    private readonly client: UiClient,
    private readonly place: Place,
  ) {}

  get current(): ApprovalMode {
    const { sessionId, projectId } = this.place;
    const usual = this.projects.get(projectId ?? '') ?? 'ask';
    if (sessionId !== null) return this.known.get(sessionId) ?? usual;
    return this.coming.get(projectId) ?? usual;
  }

  of(project: string): ApprovalMode {
    return this.projects.get(project) ?? 'ask';
  }

  /** Asks for what a session begins with, and for its own. */
  async load(): Promise<void> {
    const { sessionId } = untrack(() => this.place);
    const listed = await this.client.projectModes();
    this.projects = new Map(listed.map(({ project, mode }) => [project, mode]));
    if (sessionId === null) return;
    const { mode } = await this.client.sessionMode(sessionId);
    this.known = new Map(this.known).set(sessionId, mode);
  }

  /** Whether it could be chosen. */
  async choose(mode: ApprovalMode): Promise<boolean> {
    const { sessionId, projectId } = this.place;
    if (!(await this.isPossible(mode, projectId))) return false;
    // Meanwhile the session may have begun for which it was chosen.
    const session = sessionId ?? (this.place.projectId === projectId ? this.place.sessionId : null);
    if (session !== null) return this.set(session, mode);
    this.coming = new Map(this.coming).set(projectId, mode);
    return true;
  }

  /** To the next one: Shift+Tab. Where the project has no sandbox none is turned on by passing. `null` where it was refused. */
  async cycle(): Promise<ApprovalMode | null> {
    const { sandboxes, projectId } = this.place;
    const all = MODES.filter((mode) => mode !== 'sandbox' || sandboxes.holds(projectId));
    const next = all[(all.indexOf(this.current) + 1) % all.length] ?? 'ask';
    return (await this.choose(next)) ? next : null;
  }

  async chooseFor(project: string, mode: ApprovalMode): Promise<void> {
    if (!(await this.isPossible(mode, project))) return;
    await this.place.run(async () => {
      await this.client.setProjectMode(project, mode);
      this.projects = new Map(this.projects).set(project, mode);
    });
  }

  /** Running freely in the sandbox turns it on for the project; the core says why where it cannot be had. */
  private async isPossible(mode: ApprovalMode, project: string | null): Promise<boolean> {
    const { sandboxes } = this.place;
    if (mode !== 'sandbox' || project === null || sandboxes.holds(project)) return true;
    await sandboxes.choose(project, true);
    return sandboxes.holds(project);
  }

  /**
   * A session was made: it takes what was chosen for it, before its first message. One that was made for an earlier try
   * takes what is shown now.
   */
  async begin(session: string, mode = this.coming.get(this.place.projectId)): Promise<void> {
    if (mode === undefined) return;
    await this.client.setSessionMode(session, mode);
    this.known = new Map(this.known).set(session, mode);
  }

  /** Its first message was taken; until then the choice stands for the next try. */
  begun(project: string): void {
    this.coming = new Map([...this.coming].filter(([of]) => of !== project));
  }

  private async set(session: string, mode: ApprovalMode): Promise<boolean> {
    const set = await this.place.run(async () => {
      await this.client.setSessionMode(session, mode);
      this.known = new Map(this.known).set(session, mode);
      return true;
    });
    return set === true;
  }
}
