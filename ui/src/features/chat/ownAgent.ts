import type { Snapshot } from '../../ipc/bindings';
import type { Messages } from '../../shared/i18n/en';

/** How the core calls an agent that nobody gave a name. */
export const MAIN = 'main';

/** What an agent is called for people: the session's own has a name only where it was declared with one. */
export const agentWord = (t: Messages, name: string): string => (name === MAIN ? t.approvals.main : name);

/** The name of the agent that a person declared for this session; null where it is Bosun itself. */
export function ownAgent(snapshot: Pick<Snapshot, 'agents'> | null): string | null {
  const name = snapshot?.agents.find(({ parent }) => parent === null)?.name ?? MAIN;
  return name === MAIN ? null : name;
}
