/** The person's own servers and hooks, as both of their sections change them. */
import type { Workspace } from '../../app/workspace.svelte';
import type { AdditionChange, AdditionForms, AdditionKind, CommandError } from '../../ipc/bindings';
import { asError } from '../../shared/error';
import { i18n } from '../../shared/i18n/i18n.svelte';

export class OwnAdditions {
  forms = $state.raw<AdditionForms | null>(null);

  constructor(private readonly workspace: Workspace) {}

  async load(): Promise<void> {
    this.forms = (await this.workspace.run(() => this.workspace.client.additionForms())) ?? this.forms;
  }

  /** Keeps what a form holds; what the core says against it is for the form. */
  async keep(change: AdditionChange): Promise<CommandError | null> {
    try {
      await this.workspace.client.changeAdditions(change);
    } catch (thrown) {
      return asError(thrown);
    }
    await this.load();
    return null;
  }

  async switch(addition: AdditionKind, name: string, on: boolean): Promise<void> {
    await this.workspace.run(() => this.workspace.client.changeAdditions({ change: 'switch', addition, name, on }));
    // What was refused is as it was.
    await this.load();
  }

  /** Takes one away; it can be had back while that is said. */
  async remove(addition: AdditionKind, name: string): Promise<boolean> {
    const change: AdditionChange = { change: 'remove', addition, name };
    const id = await this.workspace.run(() => this.workspace.client.changeAdditions(change));
    await this.load();
    if (!id) return false;
    this.workspace.tell({ text: i18n.t.servers.removed(name), undo: () => this.bringBack(id) });
    return true;
  }

  private async bringBack(id: string): Promise<void> {
    await this.workspace.run(() => this.workspace.client.changeAdditions({ change: 'bring_back', id }));
    await this.load();
  }
}
