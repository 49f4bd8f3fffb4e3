/** Going back in the session at hand, and going another way from there. */
import type { Attachment, Item, RowId, SessionSummary, TimelineQuery } from '../ipc/bindings';
import { Along } from '../features/chat/along.svelte';
import { i18n } from '../shared/i18n/i18n.svelte';
import { said } from '../shared/problem';
import type { Workspace } from './workspace.svelte';

/** Places of a session that are looked through at once, the last first. */
const PAGE = 500;

export class Past {
  constructor(private readonly workspace: Workspace) {}

  /** Another session that goes on from a place of this one. */
  async fork(seq: number, carried: readonly Attachment[] = []): Promise<SessionSummary | null> {
    const made = await this.forked(seq);
    if (made) this.open(made, carried);
    return made;
  }

  private async forked(seq: number): Promise<SessionSummary | null> {
    const { sessionId, client } = this.workspace;
    if (sessionId === null) return null;
    return (await this.workspace.run(() => client.forkSession(sessionId, seq))) ?? null;
  }

  private open(made: SessionSummary, carried: readonly Attachment[]): void {
    const { workspace } = this;
    if (!workspace.sessions.some((session) => session.id === made.id))
      workspace.sessionsChanged([made, ...workspace.sessions]);
    workspace.alongs.carry(made.id, carried);
    workspace.openSession(made);
  }

  /** Says it in other words: in a session of its own that has everything before it. */
  async editMessage(item: string, text: string, attachments: readonly Attachment[] = []): Promise<void> {
    const seq = await this.placeBefore(item);
    const made = seq === null ? null : await this.fork(seq, attachments);
    if (made) this.workspace.drafts.write(made.id, text);
  }

  /** Sends the message that a reply answers once more: in a session of its own that has everything before it. */
  async askAgain(items: readonly Item[], reply: Item): Promise<void> {
    const { workspace } = this;
    const at = items.findIndex(({ id }) => id === reply.id);
    const asked = items.slice(0, Math.max(0, at)).findLast(({ body }) => body.kind === 'human');
    if (asked?.body.kind !== 'human') return workspace.fail(said('not_found', i18n.t.timeline.noPlace));
    const { text, attachments } = asked.body;
    const seq = await this.placeBefore(asked.id);
    const made = seq === null ? null : await this.forked(seq);
    if (!made) return;
    const along = new Along(workspace.client, () => undefined, String, '');
    along.carry(attachments);
    const parts = along.take(text);
    const session = made.id;
    const isSent = await workspace.run(() =>
      workspace.client
        .sendMessage({ session, text, attachments: parts.attachments, mentions: parts.mentions })
        .then(() => true),
    );
    // What could not be sent is in the composer again, with all that stood with it.
    if (!isSent) workspace.drafts.write(session, text);
    this.open(made, isSent ? [] : attachments);
  }

  /** Asks whether to go back to before a message of the person's; without one, before the last. */
  async rewindTo(item: string | null): Promise<void> {
    const seq = await this.placeBefore(item);
    if (seq !== null) this.workspace.dialog = { kind: 'rewind', seq };
  }

  private async placeBefore(item: string | null): Promise<number | null> {
    const { sessionId, client } = this.workspace;
    if (sessionId === null) return null;
    const asked = { session: sessionId, list: 'places' as const, from: null, limit: PAGE };
    let before: RowId | null = null;
    do {
      const query: TimelineQuery = { ...asked, before };
      const page = await this.workspace.run(() => client.timeline(query));
      if (!page) return null;
      const found = page.checkpoints.findLast(
        (one) => one.kind === 'turn_start' && (item === null || one.item === item),
      );
      if (found) return found.seq;
      before = page.from > 0 ? (page.checkpoints[0]?.row ?? null) : null;
    } while (before !== null);
    this.workspace.fail(said('not_found', i18n.t.timeline.noPlace));
    return null;
  }
}
