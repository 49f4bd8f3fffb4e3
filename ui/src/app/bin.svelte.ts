import { i18n } from '../shared/i18n/i18n.svelte';
import type { SessionSummary } from '../ipc/bindings';
import type { Workspace } from './workspace.svelte';

/** Sessions that are put away: deleted ones that can still be brought back, and those of the archive. */
export class Bin {
  /** Of every project, the last deleted first. */
  sessions = $state.raw<SessionSummary[]>([]);

  constructor(private readonly workspace: Workspace) {}

  /** Whether it is known now what is in it. */
  async refresh(): Promise<boolean> {
    const { workspace } = this;
    const read = await workspace.run(async () => (this.sessions = await workspace.client.listDeleted()));
    return read !== undefined;
  }

  async delete(session: SessionSummary): Promise<void> {
    const { workspace } = this;
    await workspace.run(async () => {
      await workspace.client.deleteSession(session.id);
      this.left(session, i18n.t.sessions.deleted, () => this.restore(session));
      await this.refresh();
    });
  }

  async restore(session: SessionSummary): Promise<void> {
    await this.workspace.client.restoreSession(session.id);
    await this.refresh();
  }

  async archive(session: SessionSummary): Promise<void> {
    const { client } = this.workspace;
    await this.workspace.run(async () => {
      await client.archiveSession(session.id, true);
      this.left(session, i18n.t.sessions.archivedNote, () => client.archiveSession(session.id, false));
    });
  }

  /** A session went out of sight. */
  private left(session: SessionSummary, said: (title: string) => string, undo: () => Promise<void>): void {
    const { workspace } = this;
    if (workspace.sessionId === session.id) workspace.look(null);
    workspace.tell({ text: said(session.title || i18n.t.sessions.untitled), undo });
  }
}
