import type { CommandError, Envelope, Snapshot } from '../../ipc/bindings';
import type { UiClient } from '../../ipc/client';
import { prepend, reduce } from './reduce';
import { asError } from '../../shared/error';

const PAGE = 100;
/** A hidden window paints no frames; its news is then applied this often. */
const HIDDEN_MS = 250;

/** One session as it is now: a snapshot that follows its events, applied at most once a frame. */
export class SessionFeed {
  snapshot = $state.raw<Snapshot | null>(null);
  error = $state.raw<CommandError | null>(null);
  isLoadingEarlier = $state(false);

  private pending: Envelope[] = [];
  private scheduled = false;
  private close: (() => void) | null = null;
  private closed = false;

  constructor(
    private readonly client: UiClient,
    readonly id: string,
  ) {
    void this.open();
  }

  /** Subscribes; again, where it could not be done before. */
  async open(): Promise<void> {
    this.error = null;
    try {
      const { first, close } = await this.client.subscribeSession(this.id, (events) => this.receive(events));
      if (this.closed) return close();
      this.close = close;
      // What arrived before the snapshot is either in it, and then below its seq, or comes after it.
      this.snapshot = reduce(first, this.take());
    } catch (error) {
      this.error = asError(error);
    }
  }

  private receive(events: Envelope[]): void {
    this.pending.push(...events);
    if (this.scheduled || !this.snapshot) return;
    this.scheduled = true;
    const flush = () => {
      this.scheduled = false;
      if (this.snapshot && !this.closed) this.snapshot = reduce(this.snapshot, this.take());
    };
    if (document.hidden) setTimeout(flush, HIDDEN_MS);
    else requestAnimationFrame(flush);
  }

  private take(): Envelope[] {
    const events = this.pending;
    this.pending = [];
    return events;
  }

  /** Fetches the page before the first known item; false where there is none. */
  async loadEarlier(): Promise<boolean> {
    const first = this.snapshot?.items[0];
    if (!this.snapshot || !first || this.snapshot.items_before === 0 || this.isLoadingEarlier) return false;
    this.isLoadingEarlier = true;
    try {
      const older = await this.client.loadItems(this.id, first.id, PAGE);
      this.snapshot = older.length > 0 ? prepend(this.snapshot, older) : { ...this.snapshot, items_before: 0 };
      return older.length > 0;
    } finally {
      this.isLoadingEarlier = false;
    }
  }

  dispose(): void {
    this.closed = true;
    this.close?.();
  }
}

/** The feeds in use, one per session however many places show it. */
export class Feeds {
  private readonly held = new Map<string, { feed: SessionFeed; users: number }>();

  constructor(private readonly client: UiClient) {}

  /** The feed of a session, subscribed to at first use; it lasts as long as somebody holds it. */
  peek(session: string): SessionFeed {
    const known = this.held.get(session);
    if (known) return known.feed;
    const feed = new SessionFeed(this.client, session);
    this.held.set(session, { feed, users: 0 });
    return feed;
  }

  acquire(session: string): SessionFeed {
    const feed = this.peek(session);
    const entry = this.held.get(session);
    if (entry) entry.users++;
    return feed;
  }

  release(session: string): void {
    const entry = this.held.get(session);
    if (!entry || --entry.users > 0) return;
    this.held.delete(session);
    entry.feed.dispose();
  }
}
