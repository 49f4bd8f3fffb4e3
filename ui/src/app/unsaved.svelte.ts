import { onDestroy } from 'svelte';
import { SvelteMap } from 'svelte/reactivity';
import { i18n } from '../shared/i18n/i18n.svelte';
import type { Workspace } from './workspace.svelte';

/**
 * What was changed in an editor and not saved: it is there again when the editor is, as long as the window is. Never
 * stored, for a form may hold a key.
 */
export class Unsaved {
  private readonly held = new SvelteMap<string, unknown>();

  has(key: string): boolean {
    return this.held.has(key);
  }

  of<T>(key: string): T | undefined {
    return this.held.get(key) as T | undefined;
  }

  put(key: string, written: unknown): void {
    if (written === undefined) this.forget(key);
    else this.held.set(key, written);
  }

  /** It was saved, or given up by the person. */
  forget(key: string): void {
    this.held.delete(key);
  }
}

/** Keeps what an editor has, `undefined` while nothing in it is changed, and says so where it is left like that. */
export function holding(workspace: Workspace, key: string, written: () => unknown): void {
  $effect(() => workspace.unsaved.put(key, written()));
  onDestroy(() => {
    if (workspace.unsaved.has(key)) workspace.tell({ text: i18n.t.app.keptUnsaved });
  });
}

/** Whether a form holds something else than it began with. */
export const differs = (now: unknown, begun: unknown): boolean => JSON.stringify(now) !== JSON.stringify(begun);
