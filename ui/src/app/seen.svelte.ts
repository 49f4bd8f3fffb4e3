/** Which sessions changed since a person looked at them. Remembered on this machine only. */
import type { SessionSummary } from '../ipc/bindings';

const KEY = 'bosun.seen';
/** When there are more marks than so many, fewer are kept. */
const MOST = 500;
const KEPT = 400;
/** Where the moment stands among the marks; no session has such an id. */
const SINCE = '';

/**
 * By sessions, the moment that a person saw them as they were at. One without a mark was seen as it was at the moment
 * under `SINCE`, or as it began where that was later.
 */
type Marks = Record<string, number>;

export class Seen {
  private marks = $state.raw<Marks>(read());
  private sessions: readonly SessionSummary[] = [];

  /** Those that are not known were there before anybody could look: they count as seen. */
  learn(sessions: readonly SessionSummary[]): void {
    this.sessions = sessions;
    const since = this.marks[SINCE] ?? 0;
    const fresh = sessions.filter(({ id, created_at }) => created_at > since && this.marks[id] === undefined);
    if (fresh.length > 0) this.keep(Object.fromEntries(fresh.map(({ id, updated_at }) => [id, updated_at])));
  }

  look(session: SessionSummary): void {
    if ((this.seenAt(session) ?? 0) < session.updated_at) this.keep({ [session.id]: session.updated_at });
  }

  /** Whether its work came to an end unseen. */
  isUnread(session: SessionSummary): boolean {
    return session.status !== 'running' && session.updated_at > (this.seenAt(session) ?? Infinity);
  }

  /** Nothing for one that is not known. */
  private seenAt({ id, created_at }: SessionSummary): number | undefined {
    const since = this.marks[SINCE] ?? 0;
    return this.marks[id] ?? (created_at > since ? undefined : since);
  }

  private keep(more: Marks): void {
    const marks = { ...this.marks, ...more };
    this.marks = Object.keys(marks).length > MOST ? this.fewer(marks) : marks;
    try {
      localStorage.setItem(KEY, JSON.stringify(this.marks));
    } catch {
      // Storage is full or switched off: the marks then last for this run.
    }
  }

  /** What is still unread keeps its mark before all others, and then what was seen last. The rest counts as seen. */
  private fewer({ [SINCE]: since = 0, ...marks }: Marks): Marks {
    const unread = new Set<string>();
    for (const { id, created_at, updated_at } of this.sessions) {
      const seen = marks[id] ?? (created_at > since ? Infinity : since);
      if (updated_at <= seen) continue;
      unread.add(id);
      marks[id] = seen;
    }
    const all = Object.entries(marks).sort(
      ([one, a], [other, b]) => Number(unread.has(other)) - Number(unread.has(one)) || b - a,
    );
    const latest = all.slice(KEPT).reduce((most, [, at]) => Math.max(most, at), since);
    return { ...Object.fromEntries(all.slice(0, KEPT)), [SINCE]: latest };
  }
}

function read(): Marks {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isMap ? Object.fromEntries(Object.entries(value).filter(([, at]) => typeof at === 'number')) : {};
  } catch {
    return {};
  }
}
