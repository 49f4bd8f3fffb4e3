import type { ProviderView } from '../../ipc/bindings';

/** As many stand in sight where nothing is set up yet: the list begins with those that most people have a key for. */
const IN_SIGHT = 4;
/** So few are not worth a fold. */
const TOO_FEW = 3;

/** The providers that stand in sight, and those behind the fold; the tour is none. */
export function leading(
  providers: ProviderView[],
  usable: ProviderView[],
): { first: ProviderView[]; rest: ProviderView[] } {
  const shown = providers.filter(({ family }) => family !== 'tour');
  const ready = shown.filter(
    (provider) => usable.includes(provider) || provider.custom || provider.key.source === 'locked',
  );
  const others = shown.filter((provider) => !ready.includes(provider));
  const open = Math.max(0, IN_SIGHT - ready.length);
  if (others.length - open <= TOO_FEW) return { first: [...ready, ...others], rest: [] };
  return { first: [...ready, ...others.slice(0, open)], rest: others.slice(open) };
}
