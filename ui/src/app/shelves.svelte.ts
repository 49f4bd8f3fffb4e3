import type { Workspace } from './workspace.svelte';

/** How much the agent knows besides the conversation: what the sidebar counts. */
export class Shelves {
  /** Of the person and the project; `null` until they were counted. */
  memories = $state<number | null>(null);
  /** Those that are offered to the model. */
  skills = $state<number | null>(null);

  constructor(private readonly workspace: Workspace) {}

  /** Counts again. What cannot be counted is told where it is looked at. */
  async count(): Promise<void> {
    const { client, projectId } = this.workspace;
    const [memories, skills] = await Promise.all([
      client.listMemories({ project: projectId, text: null }).catch(() => null),
      client.listSkills(projectId).catch(() => null),
    ]);
    if (projectId !== this.workspace.projectId) return;
    this.memories = memories?.entries.length ?? null;
    this.skills = skills?.entries.filter((entry) => entry.hidden === null).length ?? null;
  }
}
