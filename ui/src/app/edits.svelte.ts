/** Messages that are being said in other words and are not sent yet, by session: a look at another session loses nothing. */
import type { Along } from '../features/chat/along.svelte';

export interface Edit {
  /** The message, and as it was sent. */
  readonly item: string;
  readonly before: string;
  readonly text: string;
  /** What stood with it and goes along again. */
  readonly along: Along;
  readonly isSending: boolean;
  /** The field is to have the keys once. */
  readonly isNew: boolean;
}

export class Edits {
  private all = $state.raw<Readonly<Record<string, Edit>>>({});

  of(session: string): Edit | null {
    return this.all[session] ?? null;
  }

  put(session: string, edit: Edit): void {
    this.all = { ...this.all, [session]: edit };
  }

  change(session: string, change: Partial<Pick<Edit, 'text' | 'isNew'>>): void {
    const edit = this.of(session);
    if (edit) this.put(session, { ...edit, ...change });
  }

  forget(session: string): void {
    this.all = Object.fromEntries(Object.entries(this.all).filter(([other]) => other !== session));
  }
}
