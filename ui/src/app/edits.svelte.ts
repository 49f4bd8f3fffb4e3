/** Messages that are being said in other words and are not sent yet, by session: a look at another session loses nothing. */
import type { Along } from '../features/chat/along.svelte';

export interface Edit {
  /** The message as it was sent. */
  readonly item: string;
  readonly text: string;
  /** What stood with it and goes along again. */
  readonly along: Along;
}

export class Edits {
  private all = $state.raw<Readonly<Record<string, Edit>>>({});

  of(session: string): Edit | null {
    return this.all[session] ?? null;
  }

  begin(session: string, edit: Edit): void {
    this.all = { ...this.all, [session]: edit };
  }

  write(session: string, text: string): void {
    const edit = this.of(session);
    if (edit) this.begin(session, { ...edit, text });
  }

  forget(session: string): void {
    this.all = Object.fromEntries(Object.entries(this.all).filter(([other]) => other !== session));
  }
}
