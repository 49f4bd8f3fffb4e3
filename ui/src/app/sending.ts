/** Messages on their way to the session at hand. */
import { Along } from '../features/chat/along.svelte';
import type { Mention, NewAttachment, QueuedMessage } from '../ipc/bindings';
import { i18n } from '../shared/i18n/i18n.svelte';
import type { Note } from './notes.svelte';
import { queuedKey } from './unsent.svelte';
import type { Workspace } from './workspace.svelte';

/** So much of a message tells which it is, in characters. */
const SHOWN = 60;

export class Sending {
  /** Of a project the session whose first message did not go, for the next try: nobody wants a row of empty ones. */
  private readonly begun = new Map<string, string>();

  constructor(private readonly workspace: Workspace) {}

  /** Sends what was typed; the session is made with its first message. Gives back whether it was taken. */
  async send(text: string, attachments: NewAttachment[] = [], mentions: Mention[] = []): Promise<boolean> {
    const { workspace } = this;
    const isNew = workspace.sessionId === null;
    let session = workspace.sessionId;
    const project = workspace.projectId ?? '';
    const sent = await workspace.run(
      async () => {
        session ??= await this.begin();
        if (session === null) return false;
        await workspace.client.sendMessage({ session, text, attachments, mentions });
        return true;
        // What was written stands in the message box again, to be sent from there.
      },
      { again: undefined },
    );
    // It has a conversation now, whoever began it.
    if (sent) for (const [of, id] of this.begun) if (id === session) this.begun.delete(of);
    if (!isNew || session === null) return sent === true;
    if (sent) workspace.modes.begun(project);
    // What was written stands where a new session is begun, and so does who wrote it.
    else if (workspace.sessionId === session) workspace.look(null);
    return sent === true;
  }

  /** What was told of the message that was taken out of the queue last. */
  private unqueued: Note | null = null;

  /** Takes a message out of the queue. Undo has it there again, behind what waits by then. */
  async unqueue(session: string, { id, text, attachments }: QueuedMessage): Promise<void> {
    const { workspace } = this;
    const { client } = workspace;
    const isGone = await workspace.run(() => client.unqueueMessage(session, id).then(() => true));
    if (!isGone) return;
    // While the note of another is there, Undo brings that back as well.
    const { current } = workspace.notes;
    const before = current !== null && current === this.unqueued ? current.undo : undefined;
    const undo = async () => {
      this.unqueued = null;
      await before?.();
      await this.requeue(session, text, Along.with(client, attachments));
    };
    const begin = text.trim() || attachments.map(({ name }) => name).join(', ');
    this.unqueued = { text: i18n.t.composer.unqueued(begin.slice(0, SHOWN)), undo };
    workspace.tell(this.unqueued);
  }

  /** Into the queue again; where nothing runs any more, or it cannot be sent, into the composer: no turn is begun by it. */
  private async requeue(session: string, text: string, along: Along): Promise<void> {
    const { workspace } = this;
    const status = workspace.sessions.find(({ id }) => id === session)?.status;
    const parts = along.take(text);
    const put = () => {
      parts.back();
      workspace.drafts.add(session, text);
      workspace.alongs.put(session, along.kept());
    };
    if (status !== 'running' && status !== 'waiting') return put();
    try {
      await workspace.client.sendMessage({ session, text, attachments: parts.attachments, mentions: parts.mentions });
    } catch (error) {
      put();
      throw error;
    }
  }

  /** Words for messages that are in the queue no more stand in the message box. */
  keepWords(session: string, queue: readonly QueuedMessage[]): void {
    const { unsent, drafts } = this.workspace;
    for (const id of unsent.keysOf(queuedKey(session, ''))) {
      if (queue.some((message) => message.id === id)) continue;
      const words = unsent.words(queuedKey(session, id))?.trim();
      unsent.forget(queuedKey(session, id));
      if (!words) continue;
      drafts.add(session, words);
      this.workspace.tell({ text: i18n.t.composer.queuedLeft });
    }
  }

  private async begin(): Promise<string | null> {
    const { workspace } = this;
    const { projectId: project, client } = workspace;
    if (project === null) return null;
    let id = this.begun.get(project) ?? null;
    const begun = workspace.sessions.find((session) => session.id === id);
    if (id === null || !begun || begun.archived) {
      const made = await client.createSession(project, workspace.model);
      if (!workspace.sessions.some((session) => session.id === made.id)) {
        workspace.sessions = [made, ...workspace.sessions];
      }
      id = made.id;
      // It is there, whatever goes wrong from here.
      this.begun.set(project, id);
      await workspace.modes.begin(id);
    } else {
      // Another model or mode may have been chosen for the next try.
      if (workspace.model) await client.setSessionModel(id, workspace.model);
      await workspace.modes.begin(id, workspace.modes.current);
    }
    workspace.look(id);
    return id;
  }
}
