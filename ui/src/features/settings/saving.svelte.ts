import { tick } from 'svelte';
import type { CommandError } from '../../ipc/bindings';
import { fieldOf, type FormField } from './additions';

/** The form of a server or a hook while it is saved: what is wrong with it, and at which field. */
export class Saving {
  form = $state<HTMLFormElement>();
  isSaving = $state(false);
  error = $state.raw<CommandError | null>(null);
  readonly at = $derived(this.error?.problem ? fieldOf(this.error.problem) : null);

  wrong(field: FormField): string | undefined {
    return this.at === field ? this.error?.message : undefined;
  }

  /** Goes to the field that is wrong where `keep` says so. */
  async save(event: SubmitEvent, keep: () => Promise<CommandError | null>, onDone: () => void): Promise<void> {
    event.preventDefault();
    this.isSaving = true;
    this.error = await keep();
    this.isSaving = false;
    if (!this.error) return onDone();
    await tick();
    this.form?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }
}
