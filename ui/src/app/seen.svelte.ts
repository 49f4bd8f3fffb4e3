/** Which sessions changed since a person looked at them. Remembered on this machine only. */
import type { SessionSummary } from '../ipc/bindings';

const KEY = 'bosun.seen';
/** More than so many are not worth remembering. */
const MOST = 500;

export class Seen {
  private at = $state.raw<Record<string, number>>(read());

  /** Those that are not known were there before anybody could look: they count as seen. */
  learn(sessions: readonly SessionSummary[]): void {
    const fresh = sessions.filter(({ id }) => this.at[id] === undefined);
    if (fresh.length > 0) this.keep(Object.fromEntries(fresh.map(({ id, updated_at }) => [id, updated_at])));
  }

  look(session: SessionSummary): void {
    if ((this.at[session.id] ?? 0) < session.updated_at) this.keep({ [session.id]: session.updated_at });
  }

  /** Whether its work came to an end unseen. */
  isUnread({ id, status, updated_at }: SessionSummary): boolean {
    return status !== 'running' && updated_at > (this.at[id] ?? Infinity);
  }

  private keep(more: Record<string, number>): void {
    const all = Object.entries({ ...this.at, ...more });
    this.at = Object.fromEntries(all.sort(([, a], [, b]) => b - a).slice(0, MOST));
    try {
      localStorage.setItem(KEY, JSON.stringify(this.at));
    } catch {
      // Storage is full or switched off: the marks then last for this run.
    }
  }
}

function read(): Record<string, number> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isMap ? Object.fromEntries(Object.entries(value).filter(([, at]) => typeof at === 'number')) : {};
  } catch {
    return {};
  }
}
