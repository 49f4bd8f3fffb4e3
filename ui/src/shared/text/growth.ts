/**
 * A text that is added to is a new text each time, and putting it together costs as much as it is long. Who has read it
 * before learns here what was added since, and need not touch the rest.
 */
export interface Growth {
  /** Of the text as it is now, and of the one it was made from. */
  version: number;
  from: number | null;
  added: string;
}

const growths = new WeakMap<object, Growth>();
let last = 0;

/** Notes that the text of `holder` is the one of `before` with something added; again, where more is added to it. */
export function noteGrowth(holder: object, before: object, added: string): void {
  const known = growths.get(holder);
  if (known) known.added += added;
  else growths.set(holder, { version: ++last, from: versionOf(before), added });
}

export const growthOf = (holder: object): Growth | undefined => growths.get(holder);

function versionOf(holder: object): number {
  const known = growths.get(holder);
  if (known) return known.version;
  growths.set(holder, { version: ++last, from: null, added: '' });
  return last;
}
