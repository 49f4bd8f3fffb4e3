import type { Snapshot } from '../../ipc/bindings';

/** How the core calls an agent that nobody gave a name. */
export const MAIN = 'main';

/** The name of the agent that a person declared for this session; null where it is Bosun itself. */
export function ownAgent(snapshot: Pick<Snapshot, 'agents'> | null): string | null {
  const name = snapshot?.agents.find(({ parent }) => parent === null)?.name ?? MAIN;
  return name === MAIN ? null : name;
}
