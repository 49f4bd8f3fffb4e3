/** How it stands with an agent, in words, wherever it is shown. */
import type { AgentNode } from '../../ipc/bindings';
import type { Messages } from '../../shared/i18n/en';
import type { Formats } from '../../shared/i18n/formats';

/** Its share of the context and its cost, where they are known. */
export function figures(f: Formats, { usage }: AgentNode): string[] {
  const share =
    usage.context_tokens && usage.context_window ? f.percent(usage.context_tokens / usage.context_window) : '';
  return [share, usage.cost === null ? '' : f.cost(usage.cost)].filter(Boolean);
}

export function doing(t: Messages['agents'], { status, current }: AgentNode): string {
  if (status === 'running') return current ?? t.status.running;
  return status === 'waiting' && current ? `${t.status.waiting} · ${current}` : t.status[status];
}

/** How long it has been at work, where it has begun; `now` in milliseconds since 1970. */
export const took = (f: Formats, { status, started_at, ended_at }: AgentNode, now: number): string =>
  status === 'queued' ? '' : f.clock((ended_at ?? now) - started_at);

/** Whether it can be stopped. */
export const isAtWork = ({ status }: AgentNode): boolean => ['queued', 'running', 'waiting'].includes(status);
