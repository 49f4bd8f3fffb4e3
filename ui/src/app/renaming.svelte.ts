/** Titles of sessions while a person changes them in the list: what is written stays until it is taken or given up. */
import { SvelteMap } from 'svelte/reactivity';
import type { CommandError, SessionSummary } from '../ipc/bindings';
import { asError } from '../shared/error';
import type { Workspace } from './workspace.svelte';

interface Title {
  /** Grows each time the field is asked for, which then has the keys. */
  asked: number;
  /** Nothing was written yet where it is missing. */
  written?: string;
  /** Why it was not taken. */
  refused?: CommandError;
}

export class Renaming {
  private readonly open = new SvelteMap<string, Title>();

  constructor(private readonly workspace: Workspace) {}

  of(session: string): Title | undefined {
    return this.open.get(session);
  }

  begin(session: string): void {
    const title = this.of(session);
    this.open.set(session, { ...title, asked: (title?.asked ?? 0) + 1 });
  }

  write(session: string, written: string): void {
    this.open.set(session, { asked: 0, ...this.of(session), written });
  }

  /** Whether it is over: the title was taken, or given up by an empty one or the one that it has. */
  async done({ id, title }: SessionSummary, written: string): Promise<boolean> {
    const { client, layout } = this.workspace;
    try {
      if (written && written !== title) await client.renameSession(id, written);
      this.open.delete(id);
      return true;
    } catch (thrown) {
      const refused = asError(thrown);
      this.open.set(id, { asked: 0, ...this.of(id), written, refused });
      // The list was left with the field.
      if (!layout.isSidebarWide) this.workspace.fail(refused);
      return false;
    }
  }
}
