/** What places of a session are called. */
import type { Checkpoint } from '../../ipc/bindings';
import { i18n } from '../../shared/i18n/i18n.svelte';
import { sentence, tenseOf } from '../chat/toolWords';

/** So many calls of a step are named. */
const NAMED = 2;

/** The message before which a place is, or what was done up to it; nothing where it has no words. */
function wordsOf(place: Checkpoint): string {
  if (place.kind === 'turn_end') return '';
  const said = place.calls
    .slice(0, NAMED)
    .map(({ tool, args, ...call }) => sentence(i18n.t, { name: tool, args }, tenseOf(call)));
  if (said.length === 0) return place.label;
  const more = place.calls_count - said.length;
  return [...said, ...(more > 0 ? [i18n.t.timeline.moreCalls(more)] : [])].join(' · ');
}

export const nameOf = (place: Checkpoint): string => wordsOf(place) || i18n.t.timeline.kinds[place.kind];

/** Which moment a place is, where it stands alone. */
export function momentOf(place: Checkpoint): string {
  const { kinds, moments } = i18n.t.timeline;
  const words = wordsOf(place);
  if (place.kind === 'turn_end') return moments.turn_end(place.turn);
  return words ? moments[place.kind](words) : kinds[place.kind];
}
