import type { Checkpoint, CommandError, LedgerEntry, RowId, TimelineList, TimelinePage } from '../../ipc/bindings';
import type { UiClient } from '../../ipc/client';
import { asError } from '../../shared/error';

export const PAGE = 100;

type Wanted = 'news' | 'earlier';

/**
 * One list of a session's timeline, as far as anybody looked: its end, more before it on demand, and what is recorded
 * later. What is known is not fetched again, unless it may still change. It is asked for by rows: of agents that work
 * beside each other, one row may come to stand before another that is known.
 */
export class Pages<T extends Checkpoint | LedgerEntry> {
  entries = $state.raw<readonly T[]>([]);
  /** How many there are before the first of these. */
  before = $state(0);
  canUndoRewind = $state(false);
  isKnown = $state(false);
  error = $state.raw<CommandError | null>(null);
  /** What could not be fetched: what is new, or the page before the first that is known. The others stay. */
  failed = $state<Wanted | null>(null);
  /** Something is fetched now. */
  isAsking = $state(false);

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
    return this.ask('news', async () => {
      let { entries, before } = this;
      const open = entries.findIndex((entry) => !this.isSettled(entry));
      let at = open < 0 ? entries.length - 1 : open;
      for (;;) {
        const known = entries[at];
        const page = this.isKnown && known ? await this.page(known.row, null) : null;
        const news = page ? this.pick(page) : [];
        // Taken back or forth, the session has other places.
        if (!page || page.rewinds !== this.rewinds || news[0]?.row !== known?.row)
          return this.take(await this.page(null, null));
        if (page.from !== before + at && at > 0) {
          // Some came before it: what is known holds as far as there are as many before a row as there were.
          at = Math.max(0, at - PAGE);
          continue;
        }
        before = page.from - at;
        entries = [...entries.slice(0, at), ...news];
        this.canUndoRewind = page.can_undo_rewind;
        if (page.from + news.length >= page.total) break;
        at = entries.length - 1;
      }
      this.entries = entries;
      this.before = before;
    });
  }

  /** Fetches the page before the first that is known. */
  earlier(): Promise<void> {
    return this.ask('earlier', async () => {
      const first = this.entries[0];
      if (this.before === 0 || !first) return;
      const page = await this.page(null, first.row);
      if (page.rewinds !== this.rewinds) return this.take(await this.page(null, null));
      this.entries = [...this.pick(page), ...this.entries];
      this.before = page.from;
    });
  }

  /** Asks once more for what could not be fetched. */
  again(): Promise<void> {
    return this.failed === 'earlier' ? this.earlier() : this.follow();
  }

  private take(page: TimelinePage): void {
    this.entries = this.pick(page);
    this.before = page.from;
    this.canUndoRewind = page.can_undo_rewind;
    this.rewinds = page.rewinds;
    this.isKnown = true;
  }

  private page(from: RowId | null, before: RowId | null): Promise<TimelinePage> {
    return this.client.timeline({ session: this.session, list: this.list, from, before, limit: PAGE });
  }

  private ask(wanted: Wanted, question: () => Promise<void>): Promise<void> {
    const answered = this.asked.then(async () => {
      this.isAsking = true;
      try {
        await question();
        // What else could not be fetched is said until that can be.
        if (this.failed === wanted) [this.failed, this.error] = [null, null];
      } catch (thrown) {
        [this.failed, this.error] = [wanted, asError(thrown)];
      } finally {
        this.isAsking = false;
      }
    });
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
