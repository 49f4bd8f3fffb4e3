import { isAltGr, isComposing, isText, placeOf, signAt } from '../shared/press';
import type { CommandId } from './commands';

/** The window's own keys. Command on a Mac, Control elsewhere. */
const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** A shortcut as it is written in the interface. */
export function keyName(key: string, isShifted = false): string {
  if (isMac) return `${isShifted ? '⇧' : ''}⌘${key}`;
  return `Ctrl ${isShifted ? '⇧ ' : ''}${key}`;
}

/** A key with Alt, as it is written in the interface. */
export const altName = (key: string): string => (isMac ? `⌥${key}` : `Alt ${key}`);

/** A key of the window: one sign with Control or Command, written `k` or `shift+d`. */
export type Chord = string;

/** What a key press asks for; `session1` to `session9` are the sessions as they stand in the list. */
export type Action = CommandId | `session${number}` | 'escape';

/** The keys that commands have until a person gives them others. */
export const USUAL: Readonly<Partial<Record<CommandId, Chord>>> = {
  newSession: 'n',
  openFolder: 'o',
  palette: 'k',
  sidebar: 'b',
  find: 'f',
  settings: ',',
  sheet: '/',
  changes: 'shift+d',
};

/** Digits go to sessions, and these belong to whoever edits text. */
const RESERVED = /^(shift\+)?([1-9]|[acvxyz])$/;

/** What the person gave commands, over the usual keys: an empty text takes them away. */
export type Shortcuts = Readonly<Record<string, string>>;

/** The keys of a command; `null` where it has none. */
export function chordOf(id: CommandId, given: Shortcuts): Chord | null {
  return (given[id] ?? USUAL[id] ?? '') || null;
}

/** Keys as they are written in the interface. */
export function chordName(chord: Chord): string {
  const isShifted = chord.startsWith('shift+');
  return keyName((isShifted ? chord.slice('shift+'.length) : chord).toUpperCase(), isShifted);
}

/** The command that has these keys. */
export function holderOf(chord: Chord, given: Shortcuts, ids: readonly CommandId[]): CommandId | null {
  return ids.find((id) => chordOf(id, given) === chord) ?? null;
}

/**
 * What was pressed, as keys that commands may have, in the order in which they are looked for: the character first, then
 * the key by its place. Shift is named where the character would be there without it, as with letters.
 */
export function chordsIn(event: KeyboardEvent): Chord[] {
  if (isComposing(event) || event.altKey || isAltGr(event)) return [];
  if (!(isMac ? event.metaKey : event.ctrlKey) || (isMac && event.ctrlKey) || (!isMac && event.metaKey)) return [];
  const key = event.key.toLowerCase();
  if (!isText(key) || key === ' ' || key === '+') return [];
  const place = placeOf(event);
  const byPlace = place === null ? [] : [place];
  if (!event.shiftKey) return [key, ...byPlace];
  const named = [key, ...byPlace].map((one) => `shift+${one}`);
  const needsShift = !/\p{L}/u.test(key) && (isDigit(key) || key !== signAt(event.code));
  return needsShift ? [key, ...named] : named;
}

/** What was pressed, as keys that a command may be given, written as every layout has them; `null` for anything else. */
export function chordIn(event: KeyboardEvent): Chord | null {
  const chords = chordsIn(event);
  return chords.find((chord) => /^[ -~]+$/.test(chord)) ?? chords[0] ?? null;
}

/** What stands in the way of giving `id` what was pressed: keys that are nobody's to give, or another command's. */
export function rivalOf(
  event: KeyboardEvent,
  given: Shortcuts,
  ids: readonly CommandId[],
  id: CommandId,
): { chord: Chord; holder: CommandId | null } | null {
  return first(chordsIn(event), (chord) => {
    if (isReserved(chord)) return { chord, holder: null };
    const holder = holderOf(chord, given, ids);
    return holder && holder !== id ? { chord, holder } : null;
  });
}

export const isReserved = (chord: Chord): boolean => RESERVED.test(chord);

/** What a key press means for the window; `null` where it is not the window's. */
export function actionOf(event: KeyboardEvent, given: Shortcuts, ids: readonly CommandId[]): Action | null {
  if (event.key === 'Escape' && !isComposing(event)) {
    return event.altKey || event.shiftKey || event.ctrlKey || event.metaKey ? null : 'escape';
  }
  return first(chordsIn(event), (chord) =>
    /^[1-9]$/.test(chord) ? (`session${Number(chord)}` as const) : holderOf(chord, given, ids),
  );
}

const isDigit = (key: string): boolean => /^[0-9]$/.test(key);

function first<T>(chords: readonly Chord[], found: (chord: Chord) => T | null): T | null {
  for (const chord of chords) {
    const one = found(chord);
    if (one !== null) return one;
  }
  return null;
}
