import type { Checkpoint, CommandError, LedgerEntry, TimelineList, TimelinePage } from '../../ipc/bindings';
import type { UiClient } from '../../ipc/client';
import { asError } from '../../shared/error';

const PAGE = 100;

/**
 * One list of a session's timeline, as far as anybody looked: its end, more before it on demand, and what is recorded
 * later. What is known is not fetched again, unless it may still change.
 */
export class Pages<T extends Checkpoint | LedgerEntry> {
  entries = $state.raw<readonly T[]>([]);
  /** How many there are before the first of these. */
  before = $state(0);
  canUndoRewind = $state(false);
  isKnown = $state(false);
  error = $state.raw<CommandError | null>(null);

  private rewinds = 0;
  /** One question at a time: each goes on from the answer before it. */
  private asked: Promise<void> = Promise.resolve();

  constructor(
    private readonly client: UiClient,
    private readonly session: string,
    private readonly list: TimelineList,
    private readonly pick: (page: TimelinePage) => readonly T[],
    private readonly isSettled: (entry: T) => boolean,
  ) {}

  /** Fetches what is new; at first the end of the list. */
  follow(): Promise<void> {
    return this.ask(async () => {
      if (!this.isKnown) return this.take(await this.page(null, null));
      const open = this.entries.findIndex((entry) => !this.isSettled(entry));
      let from = this.before + (open < 0 ? this.entries.length : open);
      for (let total = Infinity; from < total;) {
        const page = await this.page(from, null);
        // Taken back or forth, the session has other places.
        if (page.rewinds !== this.rewinds || page.from !== from) return this.take(await this.page(null, null));
        const news = this.pick(page);
        this.entries = [...this.entries.slice(0, from - this.before), ...news];
        this.canUndoRewind = page.can_undo_rewind;
        if (news.length === 0) return;
        from += news.length;
        total = page.total;
      }
    });
  }

  /** Fetches the page before the first that is known. */
  earlier(): Promise<void> {
    return this.ask(async () => {
      if (this.before === 0) return;
      const page = await this.page(null, this.before);
      if (page.rewinds !== this.rewinds) return this.take(await this.page(null, null));
      this.entries = [...this.pick(page), ...this.entries];
      this.before = page.from;
    });
  }

  private take(page: TimelinePage): void {
    this.entries = this.pick(page);
    this.before = page.from;
    this.canUndoRewind = page.can_undo_rewind;
    this.rewinds = page.rewinds;
    this.isKnown = true;
  }

  private page(from: number | null, before: number | null): Promise<TimelinePage> {
    return this.client.timeline({ session: this.session, list: this.list, from, before, limit: PAGE });
  }

  private ask(question: () => Promise<void>): Promise<void> {
    const answered = this.asked.then(question).then(
      () => void (this.error = null),
      (thrown: unknown) => void (this.error = asError(thrown)),
    );
    this.asked = answered;
    return answered;
  }
}

export const placesOf = (client: UiClient, session: string): Pages<Checkpoint> =>
  new Pages(
    client,
    session,
    'places',
    (page) => page.checkpoints,
    () => true,
  );

export const ledgerOf = (client: UiClient, session: string): Pages<LedgerEntry> =>
  new Pages(
    client,
    session,
    'ledger',
    (page) => page.ledger,
    (entry) => entry.state !== 'proposed' && entry.state !== 'waiting' && entry.state !== 'running',
  );
