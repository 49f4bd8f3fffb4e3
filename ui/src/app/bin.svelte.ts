import type { SessionSummary } from '../ipc/bindings';
import type { Workspace } from './workspace.svelte';

/** Deleted sessions that can still be brought back. */
export class Bin {
  /** Of every project, the last deleted first. */
  sessions = $state.raw<SessionSummary[]>([]);

  constructor(private readonly workspace: Workspace) {}

  async refresh(): Promise<void> {
    const { workspace } = this;
    await workspace.run(async () => (this.sessions = await workspace.client.listDeleted()));
  }

  async restore(session: SessionSummary): Promise<void> {
    await this.workspace.client.restoreSession(session.id);
    await this.refresh();
  }
}
