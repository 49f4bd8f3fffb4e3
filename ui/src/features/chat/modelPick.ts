/** What a person may mean by a model's name: what providers list, and the name itself at those that do not list it. */
import type { CommandError, ModelChoice, ModelRef, ProviderView } from '../../ipc/bindings';

export interface Listed {
  provider: ProviderView;
  /** `null` while they are asked for. */
  models: ModelChoice[] | null;
  /** Why there is no list. */
  failed: CommandError | null;
}

interface Picked {
  /** What fits, the name itself first. */
  lists: (Listed & { fits: ModelChoice[] })[];
  /** Who may have it without listing it, the likeliest first. */
  unlisted: ProviderView[];
}

/** Fewer letters in common are chance. */
const LEAST_ALIKE = 3;

/**
 * `wanted` in `lists`: whoever lists a model of that very name stands first, then in each pair the provider of the `present`
 * model. Nothing wanted leaves everything as it is.
 */
export function pick(lists: readonly Listed[], wanted: string, present: ModelRef | null): Picked {
  if (!wanted) return { lists: lists.map((list) => ({ ...list, fits: list.models ?? [] })), unlisted: [] };
  const lower = wanted.toLowerCase();
  const far = ({ model }: ModelChoice) => (model.name === wanted ? 0 : model.name.toLowerCase() === lower ? 1 : 2);
  const isOther = ({ provider }: Listed) => Number(provider.id !== present?.provider);
  const found = lists.map((list) => {
    const fits = (list.models ?? []).filter(({ model }) => model.name.toLowerCase().includes(lower));
    return { ...list, fits: fits.sort((a, b) => far(a) - far(b)) };
  });
  const nearest = ({ fits: [first] }: { fits: ModelChoice[] }) => (first ? far(first) : 3);
  const alike = (list: Listed) => likeness(list, lower, present);
  return {
    lists: found.toSorted((a, b) => nearest(a) - nearest(b) || isOther(a) - isOther(b)),
    unlisted: lists
      .filter(({ models }) => !models?.some(({ model }) => model.name === wanted))
      .toSorted((a, b) => alike(b) - alike(a) || isOther(a) - isOther(b))
      .map(({ provider }) => provider),
  };
}

/** How many letters a name begins with as some model of a provider does: makers give all of theirs one beginning. */
function likeness({ provider, models }: Listed, name: string, present: ModelRef | null): number {
  const names = (models ?? []).map(({ model }) => model.name);
  if (present?.provider === provider.id) names.push(present.name);
  const most = Math.max(0, ...names.map((other) => common(other.toLowerCase(), name)));
  return most < LEAST_ALIKE ? 0 : most;
}

function common(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}
