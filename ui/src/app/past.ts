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
    const made = await this.forked(seq);
    if (made) this.open(made);
    return made;
  }

  private async forked(seq: number): Promise<SessionSummary | null> {
    const { sessionId, client } = this.workspace;
    if (sessionId === null) return null;
    return (await this.workspace.run(() => client.forkSession(sessionId, seq))) ?? null;
  }

  private open(made: SessionSummary): void {
    const { workspace } = this;
    if (!workspace.sessions.some((session) => session.id === made.id))
      workspace.sessionsChanged([made, ...workspace.sessions]);
    workspace.openSession(made);
  }

  /** Begins to say a message of the person's in other words. */
  beginEdit(session: string, { id, body }: Item): void {
    const { client, edits } = this.workspace;
    if (body.kind === 'human')
      edits.begin(session, { item: id, text: body.text, along: Along.with(client, body.attachments) });
  }

  /** Sends what it was changed to; whether there is a session with it. */
  async sendEdit(session: string, item: Item): Promise<boolean> {
    const { edits } = this.workspace;
    const edit = edits.of(session);
    if (edit?.item !== item.id) return false;
    const isSaid = await this.sayAgain(item.id, edit.text, edit.along);
    if (isSaid) edits.forget(session);
    return isSaid;
  }

  /** Sends the message that a reply answers once more. */
  async askAgain(items: readonly Item[], reply: Item): Promise<void> {
    const at = items.findIndex(({ id }) => id === reply.id);
    const asked = items.slice(0, Math.max(0, at)).findLast(({ body }) => body.kind === 'human');
    if (asked?.body.kind !== 'human') return this.workspace.fail(said('not_found', i18n.t.timeline.noPlace));
    await this.sayAgain(asked.id, asked.body.text, Along.with(this.workspace.client, asked.body.attachments));
  }

  /** Says something in the place of a message: in a session of its own that has everything before it. */
  private async sayAgain(message: string, text: string, along: Along): Promise<boolean> {
    const { workspace } = this;
    const seq = await this.placeBefore(message);
    const made = seq === null ? null : await this.forked(seq);
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
    this.open(made);
    return true;
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
