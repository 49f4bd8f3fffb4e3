import type { SessionSummary } from '../../ipc/bindings';
import type { Block } from '../../shared/ui/near';

export interface Section extends Block<SessionSummary> {
  kind: 'waiting' | 'running' | 'pinned' | 'day';
  /** A moment of the day, for `day`. */
  day: number;
}

/**
 * What needs a person and what is at work from every project first, then the project's pinned sessions, then its others
 * by day. Archived sessions are in none of them, unless they need a person or are at work.
 */
export function sections(sessions: readonly SessionSummary[], project: string | null): Section[] {
  const own = sessions.filter((session) => session.parent === null).sort((a, b) => b.updated_at - a.updated_at);
  const calm = own.filter((session) => session.project === project && !isLive(session) && !session.archived);
  const groups = {
    waiting: own.filter(({ status }) => status === 'waiting'),
    running: own.filter(({ status }) => status === 'running'),
    pinned: calm.filter(({ pinned }) => pinned),
  };
  const days: (Section & { lines: SessionSummary[] })[] = [];
  let began = Infinity;
  for (const session of calm) {
    if (session.pinned) continue;
    // The newest stand first. A date is dear, and most are of the day of the one before.
    if (session.updated_at < began) {
      const date = new Date(session.updated_at);
      days.push({ key: date.toDateString(), kind: 'day', day: session.updated_at, lines: [] });
      began = date.setHours(0, 0, 0, 0);
    }
    days.at(-1)?.lines.push(session);
  }
  const named = (['waiting', 'running', 'pinned'] as const)
    .filter((kind) => groups[kind].length > 0)
    .map((kind): Section => ({ key: kind, kind, day: 0, lines: groups[kind] }));
  return [...named, ...days];
}

const isLive = ({ status }: SessionSummary) => status === 'waiting' || status === 'running';

/** The archived sessions of a project, newest first. */
export const archived = (sessions: readonly SessionSummary[], project: string | null): SessionSummary[] =>
  sessions
    .filter((one) => one.parent === null && one.project === project && one.archived && !isLive(one))
    .sort((a, b) => b.updated_at - a.updated_at);
