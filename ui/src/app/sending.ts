/** Messages on their way to the session at hand. */
import type { Mention, NewAttachment } from '../ipc/bindings';
import type { Workspace } from './workspace.svelte';

export class Sending {
  /** A session whose first message was refused, for the next try: nobody wants a row of empty ones. */
  private begun: { id: string; project: string } | null = null;

  constructor(private readonly workspace: Workspace) {}

  /** Sends what was typed; the session is made with its first message. Gives back whether it was taken. */
  async send(text: string, attachments: NewAttachment[] = [], mentions: Mention[] = []): Promise<boolean> {
    const { workspace } = this;
    const isNew = workspace.sessionId === null;
    let session = workspace.sessionId;
    const project = workspace.projectId ?? '';
    const sent = await workspace.run(async () => {
      session ??= await this.begin();
      if (session === null) return false;
      await workspace.client.sendMessage({ session, text, attachments, mentions });
      return true;
    });
    // It has a conversation now, whoever began it.
    if (sent && session === this.begun?.id) this.begun = null;
    if (!isNew || session === null) return sent === true;
    if (sent) workspace.modes.begun(project);
    else {
      this.begun = { id: session, project };
      // What was written stands where a new session is begun, and so does who wrote it.
      if (workspace.sessionId === session) workspace.look(null);
    }
    return sent === true;
  }

  private async begin(): Promise<string | null> {
    const { workspace } = this;
    const { projectId: project, client } = workspace;
    if (project === null) return null;
    let id = this.begun?.project === project ? this.begun.id : null;
    const begun = workspace.sessions.find((session) => session.id === id);
    this.begun = null;
    if (id === null || !begun || begun.archived) {
      const made = await client.createSession(project, workspace.model);
      if (!workspace.sessions.some((session) => session.id === made.id)) {
        workspace.sessions = [made, ...workspace.sessions];
      }
      id = made.id;
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
