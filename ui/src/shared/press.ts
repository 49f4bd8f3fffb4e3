/**
 * What a key press stands for, whatever the keyboard's layout: first the character it types, then, where that is none of
 * ours, the place of the key as a US keyboard has it.
 */

/** Whether the press belongs to an input method or waits for the letter an accent goes on: it is no key of ours. */
export const isComposing = (event: KeyboardEvent): boolean =>
  event.isComposing || event.keyCode === 229 || event.key === 'Process' || event.key === 'Dead';

/** Windows sends AltGr as Control with Alt. */
export const isAltGr = (event: KeyboardEvent): boolean => event.getModifierState('AltGraph');

const SIGNS: Readonly<Record<string, string>> = {
  Backquote: '`',
  Minus: '-',
  Equal: '=',
  BracketLeft: '[',
  BracketRight: ']',
  Backslash: '\\',
  Semicolon: ';',
  Quote: "'",
  Comma: ',',
  Period: '.',
  Slash: '/',
  NumpadDivide: '/',
  NumpadMultiply: '*',
  NumpadSubtract: '-',
  NumpadDecimal: '.',
};

const onDigits = (code: string): string | null => /^Digit([0-9])$/.exec(code)?.[1] ?? null;

/** What a US keyboard has on the key, without Shift. */
export const signAt = (code: string): string | null =>
  onDigits(code) ?? /^Key([A-Z])$/.exec(code)?.[1]?.toLowerCase() ?? SIGNS[code] ?? null;

/** A key that types: named ones are words in ASCII, and some type two letters at once. */
export const isText = (key: string): boolean => [...key].length === 1 || /^[^ -~]+$/.test(key);

/**
 * What the place of the key says, where what it types does not: letters and signs of other scripts, and whatever stands on
 * the digits of a keyboard that has those with Shift. Latin letters stay what they are wherever they stand.
 */
export function placeOf({ key, code, shiftKey }: KeyboardEvent): string | null {
  const digit = onDigits(code);
  if (digit !== null) return shiftKey || /^[0-9]$/.test(key) ? null : digit;
  return /^[ -~]/.test(key) || /\p{Script=Latin}/u.test(key) ? null : signAt(code);
}

/** A key without Control, Alt or Command, as it is called in lower case; letters are the same with Shift. */
export function plainKey(event: KeyboardEvent): string | null {
  if (isComposing(event) || event.metaKey) return null;
  const key = event.key.toLowerCase();
  // A sign that is typed with AltGr is that sign, and nothing by its place. A letter is none: it was typed for something else.
  if (isAltGr(event)) return isText(key) && !/[\p{L}\p{N}]/u.test(key) ? key : null;
  if (event.ctrlKey || event.altKey) return null;
  return isText(key) ? (placeOf(event) ?? key) : key;
}
