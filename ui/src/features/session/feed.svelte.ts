import { untrack } from 'svelte';
import type { CommandError, Envelope, Item, Opening, SessionSummary, Snapshot } from '../../ipc/bindings';
import type { UiClient } from '../../ipc/client';
import { asError } from '../../shared/error';
import { beforeCalmFrame } from '../../shared/frame';
import { textOf } from '../chat/find';
import type { Place } from '../chat/scroll';
import { join, letGo, prepend, reduce, resume } from './reduce';

const PAGE = 100;
/** About so many characters of a session are known while its end is followed. */
const KNOWN_CHARACTERS = 256 * 1024;
/** A hidden window paints no frames; its news is then applied this often. */
const HIDDEN_MS = 250;

/** A subscription: what came over it and is not in the snapshot yet, and how to end it once it has begun. */
interface Line {
  pending: Envelope[];
  scheduled: boolean;
  close: (() => void) | null;
}

/** One session as it is now: a snapshot that follows its events, applied at most once a frame. */
export class SessionFeed {
  snapshot = $state.raw<Snapshot | null>(null);
  error = $state.raw<CommandError | null>(null);
  /** It is tried again to open it. */
  isOpening = $state(false);
  isLoadingEarlier = $state(false);
  /** Grows when the session was told anew from its end, so that rows that were known may be gone. */
  lives = $state(0);
  /** Where a person was in the conversation; `null` is at its end. */
  place: Place | null = null;

  private line: Line | null = null;
  private loading: Promise<boolean> | null = null;

  constructor(
    private readonly client: UiClient,
    readonly id: string,
  ) {
    void this.open();
  }

  /** Subscribes; again, where it could not be done before. What is known already is gone on from. */
  async open(): Promise<void> {
    const line: Line = { pending: [], scheduled: false, close: null };
    this.line = line;
    const known = untrack(() => this.snapshot);
    // What went wrong before stands until it is known whether it still does.
    if (untrack(() => this.error)) this.isOpening = true;
    try {
      // The beginning of a session that is not open yet is no event of its own.
      const { first, close } = await this.client.subscribeSession(this.id, known?.seq || null, (events) =>
        this.receive(line, events),
      );
      if (this.line !== line) return close();
      line.close = close;
      // What arrived before the snapshot is either in it, and then below its seq, or comes after it.
      this.snapshot = reduce(this.told(first), take(line));
      this.error = null;
    } catch (error) {
      if (this.line === line) this.error = asError(error);
    } finally {
      if (this.line === line) this.isOpening = false;
    }
  }

  /** The session with what is known of it. */
  private told({ snapshot, since }: Opening): Snapshot {
    const known = this.snapshot;
    if (!known) return snapshot;
    if (since !== null) return resume(known, snapshot);
    const whole = join(known, snapshot);
    const first = whole.items[0]?.id;
    if (known.items.some(({ id }) => id === first)) return whole;
    this.place = null;
    this.lives++;
    return whole;
  }

  private receive(line: Line, events: Envelope[]): void {
    line.pending.push(...events);
    if (line.scheduled || !line.close) return;
    line.scheduled = true;
    const flush = () => {
      line.scheduled = false;
      if (this.line === line) this.apply(line);
    };
    if (document.hidden) setTimeout(flush, HIDDEN_MS);
    else beforeCalmFrame(flush);
  }

  private apply(line: Line): void {
    if (this.snapshot) this.snapshot = reduce(this.snapshot, take(line));
  }

  /** Fetches the page before the first known item; false where there is none. One that is on its way counts. */
  loadEarlier(count = PAGE): Promise<boolean> {
    this.loading ??= this.fetchEarlier(count).finally(() => (this.loading = null));
    return this.loading;
  }

  private async fetchEarlier(count: number): Promise<boolean> {
    const first = this.snapshot?.items[0];
    if (!this.snapshot || !first || this.snapshot.items_before === 0) return false;
    this.isLoadingEarlier = true;
    try {
      const older = await this.client.loadItems(this.id, first.id, count);
      this.snapshot = older.length > 0 ? prepend(this.snapshot, older) : { ...this.snapshot, items_before: 0 };
      return older.length > 0;
    } finally {
      this.isLoadingEarlier = false;
    }
  }

  /** Lets go of the oldest rows where there is much of them; who goes there fetches them again. */
  letGo(): void {
    // What is on its way comes before the first row that is known now.
    if (this.snapshot && !this.loading) this.snapshot = letGo(this.snapshot, KNOWN_CHARACTERS);
  }

  /** The page before a row, for who looks through rows: nothing of it is known here for that. */
  page(before: string, count: number): Promise<Item[]> {
    return this.client.loadItems(this.id, before, count);
  }

  /** Takes rows that end right before one that is known; false where that one is not known any more. */
  know(older: readonly Item[], before: string): boolean {
    if (!this.snapshot?.items.some(({ id }) => id === before)) return false;
    this.snapshot = prepend(this.snapshot, older);
    return true;
  }

  /** Ends the subscription. What is known stays, for `open` to go on from. */
  leave(): void {
    const { line } = this;
    this.line = null;
    if (!line?.close) return;
    this.apply(line);
    line.close();
  }
}

function take(line: Line): Envelope[] {
  const events = line.pending;
  line.pending = [];
  return events;
}

/** What becomes of a feed that nobody shows any more. */
export type Left = 'forgotten' | 'kept';

/** So many sessions that were left are kept, with so many characters in their rows together. */
const KEPT = 8;
const KEPT_CHARACTERS = 16 * 1024 * 1024;

/** The feeds in use, one per session however many places show it, and those of the sessions that were left last. */
export class Feeds {
  private readonly held = new Map<string, { feed: SessionFeed; users: number; left: Left }>();
  /** The one that was left last stands last. They are not told anything, and so do not grow. */
  private readonly kept = new Map<string, { feed: SessionFeed; characters: number }>();

  constructor(private readonly client: UiClient) {}

  /** The feed of a session, subscribed to at first use; it lasts as long as somebody holds it. */
  peek(session: string): SessionFeed {
    const known = this.held.get(session) ?? this.kept.get(session);
    if (known) return known.feed;
    const feed = new SessionFeed(this.client, session);
    this.held.set(session, { feed, users: 0, left: 'forgotten' });
    return feed;
  }

  acquire(session: string): SessionFeed {
    const kept = this.kept.get(session);
    if (kept) {
      this.kept.delete(session);
      this.held.set(session, { feed: kept.feed, users: 0, left: 'forgotten' });
      void kept.feed.open();
    }
    const feed = this.peek(session);
    const entry = this.held.get(session);
    if (entry) entry.users++;
    // Not sooner: the one that is gone to may be the oldest of those that are kept.
    this.trim();
    return feed;
  }

  /** Kept, it is there at once when a person comes back: with its rows, and where they were in them. */
  release(session: string, left: Left = 'forgotten'): void {
    const entry = this.held.get(session);
    if (!entry) return;
    if (left === 'kept') entry.left = left;
    if (--entry.users > 0) return;
    const { feed } = entry;
    this.held.delete(session);
    feed.leave();
    if (entry.left === 'kept' && feed.snapshot && !feed.error) this.keep(feed, feed.snapshot);
  }

  /** Those that could not be shown are tried again: what kept them from it is over. */
  reopen(): void {
    for (const { feed } of this.held.values()) if (feed.error) void feed.open();
  }

  /** Forgets what is kept of sessions that are not among these any more. */
  keepOnly(sessions: readonly SessionSummary[]): void {
    const there = new Set(sessions.map(({ id }) => id));
    for (const id of this.kept.keys()) if (!there.has(id)) this.kept.delete(id);
  }

  private keep(feed: SessionFeed, { items }: Snapshot): void {
    const characters = items.reduce((sum, item) => sum + textOf(item).length, 0);
    if (characters > KEPT_CHARACTERS) return;
    this.kept.set(feed.id, { feed, characters });
  }

  private trim(): void {
    let all = [...this.kept.values()].reduce((sum, one) => sum + one.characters, 0);
    for (const [id, one] of this.kept) {
      if (this.kept.size <= KEPT && all <= KEPT_CHARACTERS) return;
      this.kept.delete(id);
      all -= one.characters;
    }
  }
}
