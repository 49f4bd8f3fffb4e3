/** Where commands of projects run. The core keeps and enforces it. */
import type { SandboxedProjects } from '../../ipc/bindings';
import type { UiClient } from '../../ipc/client';

interface Place {
  run: <T>(action: () => Promise<T>) => Promise<T | undefined>;
}

export class Sandboxes {
  private known = $state.raw<SandboxedProjects>({ all: false, projects: [] });

  constructor(
    private readonly client: UiClient,
    private readonly place: Place,
  ) {}

  /** Whether commands of the project run in a sandbox. */
  holds(project: string | null): boolean {
    return this.known.all || (project !== null && this.known.projects.includes(project));
  }

  /** It is wanted of every project, whatever is chosen for one. */
  get areAll(): boolean {
    return this.known.all;
  }

  async load(): Promise<void> {
    this.known = await this.client.sandboxedProjects();
  }

  async choose(project: string, isSandboxed: boolean): Promise<void> {
    await this.place.run(async () => {
      await this.client.setCommandPlace(project, isSandboxed ? 'sandbox' : 'machine');
      await this.load();
    });
  }
}
