/**
 * Messages that are being said in other words and are not sent yet, by session: a look at another session loses nothing, nor
 * does a restart.
 */
import { Along, soundKept, type Kept } from '../features/chat/along.svelte';
import type { Attachment } from '../ipc/bindings';
import type { UiClient } from '../ipc/client';
import type { Unsent } from './unsent.svelte';

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

/** What of it survives a restart. */
type Stored = Pick<Edit, 'item' | 'before' | 'text'> & { along: unknown };

const KIND = 'edit:';

export class Edits {
  private all = $state.raw<Readonly<Record<string, Edit>>>({});

  constructor(
    private readonly client: UiClient,
    private readonly unsent: Unsent,
  ) {
    for (const session of unsent.keysOf(KIND)) {
      const stored = unsent.of(KIND + session, isStored);
      if (!stored) continue;
      const along = this.along(session, []);
      along.restore(soundKept(stored.along));
      this.all = { ...this.all, [session]: { ...stored, along, isSending: false, isNew: false } };
    }
  }

  /** What stood with a message, to go along with its other words. What is taken out of it stays out. */
  along(session: string, attachments: readonly Attachment[]): Along {
    return Along.with(this.client, attachments, () => this.keep(session));
  }

  of(session: string): Edit | null {
    return this.all[session] ?? null;
  }

  put(session: string, edit: Edit): void {
    this.all = { ...this.all, [session]: edit };
    this.keep(session);
  }

  change(session: string, change: Partial<Pick<Edit, 'text' | 'isNew'>>): void {
    const edit = this.of(session);
    if (edit) this.put(session, { ...edit, ...change });
  }

  forget(session: string): void {
    this.all = Object.fromEntries(Object.entries(this.all).filter(([other]) => other !== session));
    this.unsent.forget(KIND + session);
  }

  /** Stores it as it is now. What is on its way must not be there again. */
  keep(session: string): void {
    const edit = this.of(session);
    // What goes along is made before the edit is: its news is no reason to forget what is stored.
    if (!edit) return;
    if (edit.isSending) return this.unsent.forget(KIND + session);
    const { item, before, text, along } = edit;
    this.unsent.put(KIND + session, { item, before, text, along: along.kept() satisfies Kept } satisfies Stored);
  }
}

function isStored(value: unknown): value is Stored {
  if (typeof value !== 'object' || value === null) return false;
  const { item, before, text } = value as Partial<Record<keyof Stored, unknown>>;
  return [item, before, text].every((one) => typeof one === 'string');
}
