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

/** What was pressed, as keys that a command may have; `null` for anything else. */
export function chordIn(event: KeyboardEvent): Chord | null {
  if (event.isComposing || event.keyCode === 229 || event.altKey) return null;
  if (!(isMac ? event.metaKey : event.ctrlKey) || (isMac && event.ctrlKey) || (!isMac && event.metaKey)) return null;
  const key = event.key.toLowerCase();
  if ([...key].length !== 1 || key === ' ' || key === '+') return null;
  return event.shiftKey ? `shift+${key}` : key;
}

export const isReserved = (chord: Chord): boolean => RESERVED.test(chord);

/** What a key press means for the window; `null` where it is not the window's. */
export function actionOf(event: KeyboardEvent, given: Shortcuts, ids: readonly CommandId[]): Action | null {
  if (event.isComposing || event.keyCode === 229 || event.altKey) return null;
  const chord = chordIn(event);
  if (chord === null)
    return event.key === 'Escape' && !event.shiftKey && !event.ctrlKey && !event.metaKey ? 'escape' : null;
  return /^[1-9]$/.test(chord) ? `session${Number(chord)}` : holderOf(chord, given, ids);
}
