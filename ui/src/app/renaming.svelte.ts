/** Titles of sessions while a person changes them in the list: what is written stays until it is taken or given up. */
import { SvelteMap, SvelteSet } from 'svelte/reactivity';
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
  private readonly away = new SvelteSet<string>();
  /** How often each field was asked for when it had the keys last. */
  private readonly hadKeys = new Map<string, number>();

  constructor(private readonly workspace: Workspace) {}

  of(session: string): Title | undefined {
    return this.open.get(session);
  }

  /** Whether it is on its way: until the answer nobody changes it or sends it again. */
  isAway(session: string): boolean {
    return this.away.has(session);
  }

  begin(session: string): void {
    const title = this.of(session);
    this.open.set(session, { ...title, asked: (title?.asked ?? 0) + 1 });
  }

  write(session: string, written: string): void {
    this.open.set(session, { asked: 0, ...this.of(session), written });
  }

  /** Whether a field that comes into sight has the keys: once for each time it was asked for, and where nobody has them. */
  takesKeys(session: string): boolean {
    const asked = this.of(session)?.asked ?? 0;
    const isFresh = this.hadKeys.get(session) !== asked;
    this.hadKeys.set(session, asked);
    return isFresh || document.activeElement === document.body;
  }

  /** Whether it is over: the title was taken, or given up by an empty one or the one that it has. */
  async done({ id, title }: SessionSummary, written: string): Promise<boolean> {
    const { client, layout } = this.workspace;
    const before = this.of(id)?.written;
    this.away.add(id);
    try {
      if (written && written !== title) await client.renameSession(id, written);
      // What came to be written meanwhile was not sent.
      if (this.of(id)?.written === before) this.close(id);
      return true;
    } catch (thrown) {
      const refused = asError(thrown);
      this.open.set(id, { asked: 0, written, ...this.of(id), refused });
      // The list was left with the field.
      if (!layout.isSidebarWide) this.workspace.fail(refused);
      return false;
    } finally {
      this.away.delete(id);
    }
  }

  private close(session: string): void {
    this.open.delete(session);
    this.hadKeys.delete(session);
  }
}
