/** Going back in the session at hand, and going another way from there. */
import type { Item, RowId, SessionSummary, TimelineQuery } from '../ipc/bindings';
import { Along } from '../features/chat/along.svelte';
import { i18n } from '../shared/i18n/i18n.svelte';
import { said } from '../shared/problem';
import type { Workspace } from './workspace.svelte';

/** Places of a session that are looked through at once, the last first. */
const PAGE = 500;

export class Past {
  constructor(private readonly workspace: Workspace) {}

  /** Another session that goes on from a place of this one. */
  async fork(seq: number): Promise<SessionSummary | null> {
    const { sessionId } = this.workspace;
    const made = sessionId === null ? null : await this.forked(sessionId, seq);
    if (made) this.open(made);
    return made;
  }

  private async forked(session: string, seq: number): Promise<SessionSummary | null> {
    const { workspace } = this;
    return (await workspace.run(() => workspace.client.forkSession(session, seq))) ?? null;
  }

  private open(made: SessionSummary, isLookedFor = true): void {
    const { workspace } = this;
    if (!workspace.sessions.some((session) => session.id === made.id))
      workspace.sessionsChanged([made, ...workspace.sessions]);
    if (isLookedFor) workspace.openSession(made);
  }

  /** Begins to say a message of the person's in other words. One that was begun before gives way, and can be had back. */
  beginEdit(session: string, { id, body }: Item): void {
    const { client, edits } = this.workspace;
    if (body.kind !== 'human' || edits.of(session)?.isSending) return;
    this.cancelEdit(session);
    const along = Along.with(client, body.attachments);
    edits.put(session, { item: id, before: body.text, text: body.text, along, isSending: false, isNew: true });
  }

  /** Leaves a message as it was. Words of the person's are not lost with that. */
  cancelEdit(session: string): void {
    const { workspace } = this;
    const edit = workspace.edits.of(session);
    if (!edit || edit.isSending) return;
    workspace.edits.forget(session);
    if (edit.text === edit.before) return;
    const undo = async () => workspace.edits.put(session, { ...edit, isNew: true });
    workspace.tell({ text: i18n.t.timeline.edit.left, undo });
  }

  /** Sends what it was changed to, to a session of its own. What does not go stays where it is. */
  async sendEdit(session: string): Promise<void> {
    const { edits } = this.workspace;
    const edit = edits.of(session);
    if (!edit || edit.isSending) return;
    edits.put(session, { ...edit, isSending: true });
    const isSaid = await this.sayAgain(session, edit.item, edit.text, edit.along);
    if (isSaid) edits.forget(session);
    else edits.put(session, { ...edit, isSending: false });
  }

  /** Sends the message that a reply answers once more. */
  async askAgain(session: string, items: readonly Item[], reply: Item): Promise<void> {
    const at = items.findIndex(({ id }) => id === reply.id);
    const asked = items.slice(0, Math.max(0, at)).findLast(({ body }) => body.kind === 'human');
    if (asked?.body.kind !== 'human') return this.workspace.fail(said('not_found', i18n.t.timeline.noPlace));
    await this.sayAgain(session, asked.id, asked.body.text, Along.with(this.workspace.client, asked.body.attachments));
  }

  /** Says something in the place of a message: in a session of its own that has everything before it. */
  private async sayAgain(from: string, message: string, text: string, along: Along): Promise<boolean> {
    const { workspace } = this;
    const seq = await this.placeBefore(from, message);
    const made = seq === null ? null : await this.forked(from, seq);
    if (!made) return false;
    const parts = along.take(text);
    const session = made.id;
    const isSent = await workspace.run(() =>
      workspace.client
        .sendMessage({ session, text, attachments: parts.attachments, mentions: parts.mentions })
        .then(() => true),
    );
    // What could not be sent is in the composer of the new session, with all that stood with it.
    if (!isSent) {
      parts.back();
      workspace.drafts.write(session, text);
      workspace.alongs.put(session, along.kept());
    }
    // Who looks at something else by then is not taken away from it.
    this.open(made, workspace.sessionId === from);
    return true;
  }

  /** Asks whether to go back to before a message of the person's; without one, before the last. */
  async rewindTo(item: string | null): Promise<void> {
    const { sessionId } = this.workspace;
    const seq = sessionId === null ? null : await this.placeBefore(sessionId, item);
    if (seq !== null && this.workspace.sessionId === sessionId) this.workspace.dialog = { kind: 'rewind', seq };
  }

  private async placeBefore(session: string, item: string | null): Promise<number | null> {
    const { client } = this.workspace;
    const asked = { session, list: 'places' as const, from: null, limit: PAGE };
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
