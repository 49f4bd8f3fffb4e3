import type { CommandId } from './commands';

/** The window's own keys. Command on a Mac, Control elsewhere. */
const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** A shortcut as it is written in the interface. */
export function keyName(key: string, isShifted = false): string {
  if (isMac) return `${isShifted ? '⇧' : ''}⌘${key}`;
  return `Ctrl ${isShifted ? '⇧ ' : ''}${key}`;
}

/** What a key press asks for; `session1` to `session9` are the sessions as they stand in the list. */
export type Action = CommandId | `session${number}` | 'escape';

const PLAIN: Record<string, CommandId> = {
  n: 'newSession',
  o: 'openFolder',
  k: 'palette',
  b: 'sidebar',
  f: 'find',
  ',': 'settings',
  '/': 'sheet',
};

/** What a key press means for the window; `null` where it is not the window's. */
export function actionOf(event: KeyboardEvent): Action | null {
  if (event.isComposing || event.keyCode === 229 || event.altKey) return null;
  const isCommand = isMac ? event.metaKey : event.ctrlKey;
  if (!isCommand) return event.key === 'Escape' && !event.shiftKey ? 'escape' : null;
  const key = event.key.toLowerCase();
  if (event.shiftKey) return key === 'd' ? 'changes' : null;
  return /^[1-9]$/.test(key) ? `session${Number(key)}` : (PLAIN[key] ?? null);
}
