/** What the levels of thinking come to for a model, and what they are called then. */
import type { Effort, ThinkingLevels } from '../ipc/bindings';
import { i18n } from '../shared/i18n/i18n.svelte';

export type Level = Effort | 'default';

const ALL: readonly Effort[] = ['off', 'low', 'medium', 'high', 'max'];

/** The levels that are offered: those that come to something, each once. */
export function offered(known: ThinkingLevels | null): Level[] {
  const told = known?.levels.map((one) => one.offered) ?? ALL;
  return ['default', ...ALL.filter((level) => told.includes(level))];
}

/** Whether the server of the model is told nothing of any level. */
export const isUntold = (known: ThinkingLevels | null) => known !== null && known.levels.length === 0;

/** The offered level that comes to the same; one that comes to nothing is none. */
export function offeredFor(known: ThinkingLevels | null, level: Level): Level {
  if (!known || level === 'default') return level;
  return known.levels.find((one) => one.level === level)?.offered ?? 'default';
}

export function levelName(known: ThinkingLevels | null, level: Level): string {
  const t = i18n.t.efforts;
  if (level === 'off' && known?.always) return t.least;
  const rest = offered(known).filter((one) => one !== 'default' && one !== 'off');
  return known && rest.length === 1 && rest[0] === level ? t.on : t[level];
}
