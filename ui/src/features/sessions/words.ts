import type { SessionSummary } from '../../ipc/bindings';
import type { Messages } from '../../shared/i18n/en';

/** The class of a session's dot. */
export function dotOf({ status, title }: SessionSummary): string {
  switch (status) {
    case 'waiting':
      return 'waiting';
    case 'running':
      return 'running';
    case 'failed':
      return 'bad';
    case 'idle':
      return title ? 'good' : '';
    case 'stopped':
    case 'interrupted':
      return '';
  }
}

/** A session that was never asked anything is ready rather than done. */
export function statusWord(t: Messages, { status, title }: SessionSummary): string {
  return status === 'idle' && !title ? t.sessions.status.fresh : t.sessions.status[status];
}
