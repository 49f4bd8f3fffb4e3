/** Going back in the session at hand, and going another way from there. */
import type { Item, SessionSummary } from '../ipc/bindings';
import { Along } from '../features/chat/along.svelte';
import { i18n } from '../shared/i18n/i18n.svelte';
import type { Workspace } from './workspace.svelte';

export class Past {
  constructor(private readonly workspace: Workspace) {}

  /** Another session that goes on from a place of this one. */
  async fork(seq: number): Promise<SessionSummary | null> {
    const { workspace } = this;
    const { sessionId } = workspace;
    const made = sessionId === null ? null : await workspace.run(() => workspace.client.forkSession(sessionId, seq));
    if (made) this.open(made);
    return made ?? null;
  }

  private open(made: SessionSummary, isLookedFor = true): void {
    const { workspace } = this;
    if (!workspace.sessions.some((session) => session.id === made.id))
      workspace.sessionsChanged([made, ...workspace.sessions]);
    if (isLookedFor) workspace.openSession(made);
  }

  /** Begins to say a message of the person's in other words. One that was begun before gives way, and can be had back. */
  beginEdit(session: string, { id, body }: Item): void {
    const { edits } = this.workspace;
    if (body.kind !== 'human' || edits.of(session)?.isSending) return;
    this.cancelEdit(session);
    const along = edits.along(session, body.attachments);
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
    const isSaid = await this.sayAgain(session, edit.item, () => edit);
    if (isSaid) edits.forget(session);
    else edits.put(session, { ...edit, isSending: false });
  }

  /** Sends once more what a reply answers: all that was said to its turn before it, in one message. */
  async askAgain(session: string, reply: Item): Promise<void> {
    await this.sayAgain(session, reply.id, (said) => {
      const bodies = said.flatMap(({ body }) => (body.kind === 'human' ? [body] : []));
      const text = bodies.flatMap(({ text }) => text || []).join('\n\n');
      const attachments = bodies.flatMap(({ attachments }) => attachments);
      return { text, along: Along.with(this.workspace.client, attachments) };
    });
  }

  /** Says something in the place of what was said at a row: in a session of its own that has everything before it. */
  private async sayAgain(
    from: string,
    item: string,
    inOtherWords: (said: readonly Item[]) => { text: string; along: Along },
  ): Promise<boolean> {
    const { workspace } = this;
    const made = await workspace.run(() => workspace.client.forkBefore(from, item));
    if (!made) return false;
    const session = made.session.id;
    const { text, along } = inOtherWords(made.said);
    const parts = along.take(text);
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
    this.open(made.session, workspace.sessionId === from);
    return true;
  }

  /** Asks whether to go back to before a message of the person's; without one, before the last that began a turn. */
  async rewindTo(item: string | null): Promise<void> {
    const { workspace } = this;
    const { sessionId } = workspace;
    if (sessionId === null) return;
    const seq = await workspace.run(() => workspace.client.placeBefore(sessionId, item));
    if (seq !== undefined && workspace.sessionId === sessionId) workspace.dialog = { kind: 'rewind', seq };
  }
}
