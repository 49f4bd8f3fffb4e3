/** Which subagents wait for a person, for rows at any depth below the one place that knows the tree. */
import { getContext, setContext } from 'svelte';
import type { AgentNode } from '../../ipc/bindings';

const KEY = Symbol('subagents that wait');
const NOBODY: ReadonlySet<string> = new Set();

export const heldUp = (agents: readonly AgentNode[]): ReadonlySet<string> =>
  new Set(agents.filter(({ status }) => status === 'waiting').map(({ session }) => session));

export const provideHeldUp = (read: () => ReadonlySet<string>): void => void setContext(KEY, read);

/** Reads the sessions of the subagents that wait; none where nobody tells. */
export const useHeldUp = (): (() => ReadonlySet<string>) =>
  getContext<(() => ReadonlySet<string>) | undefined>(KEY) ?? (() => NOBODY);
