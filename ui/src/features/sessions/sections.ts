import type { SessionSummary } from '../../ipc/bindings';

export interface Section {
  key: string;
  kind: 'waiting' | 'running' | 'day';
  /** A moment of the day, for `day`. */
  day: number;
  sessions: SessionSummary[];
}

/** What needs a person and what is at work from every project first, then the project's other sessions by day. */
export function sections(sessions: readonly SessionSummary[], project: string | null): Section[] {
  const own = sessions.filter((session) => session.parent === null).sort((a, b) => b.updated_at - a.updated_at);
  const live = (kind: 'waiting' | 'running'): Section[] => {
    const found = own.filter((session) => session.status === kind);
    return found.length > 0 ? [{ key: kind, kind, day: 0, sessions: found }] : [];
  };
  const days: Section[] = [];
  for (const session of own) {
    if (session.project !== project || session.status === 'waiting' || session.status === 'running') continue;
    const key = new Date(session.updated_at).toDateString();
    const last = days.at(-1);
    if (last?.key === key) last.sessions.push(session);
    else days.push({ key, kind: 'day', day: session.updated_at, sessions: [session] });
  }
  return [...live('waiting'), ...live('running'), ...days];
}
