/** The window's own keys. Command on a Mac, Control elsewhere. */
const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** A shortcut as it is written in the interface. */
export function keyName(key: string, isShifted = false): string {
  if (isMac) return `${isShifted ? '⇧' : ''}⌘${key}`;
  return `Ctrl ${isShifted ? '⇧ ' : ''}${key}`;
}

export type Action = 'newSession' | 'openFolder' | 'sidebar' | 'settings' | 'sheet' | 'changes' | 'escape';

/** What a key press means for the window; `null` where it is not the window's. */
export function actionOf(event: KeyboardEvent): Action | null {
  if (event.isComposing || event.keyCode === 229 || event.altKey) return null;
  const isCommand = isMac ? event.metaKey : event.ctrlKey;
  if (!isCommand) return event.key === 'Escape' && !event.shiftKey ? 'escape' : null;
  const key = event.key.toLowerCase();
  if (event.shiftKey) return key === 'd' ? 'changes' : null;
  const actions: Record<string, Action> = {
    n: 'newSession',
    o: 'openFolder',
    b: 'sidebar',
    ',': 'settings',
    '/': 'sheet',
  };
  return actions[key] ?? null;
}
