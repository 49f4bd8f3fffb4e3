/** What real keyboards send, as their layouts have it. */
import { describe, expect, it } from 'vitest';
import { plainKey } from '../shared/press';
import { actionOf, chordIn, chordsIn, type Shortcuts } from './keys';
import type { CommandId } from './commands';

const IDS: CommandId[] = ['newSession', 'openFolder', 'palette', 'sidebar', 'find', 'settings', 'sheet', 'changes'];

/** `^` is Control, `⇧` Shift, `⌥` Alt, `⎇` AltGr as Windows sends it, `⎆` AltGr as Linux does. */
function press(mods: string, key: string, code: string, given: KeyboardEventInit = {}): KeyboardEvent {
  const isWindowsAltGr = mods.includes('⎇');
  return new KeyboardEvent('keydown', {
    key,
    code,
    ctrlKey: mods.includes('^') || isWindowsAltGr,
    shiftKey: mods.includes('⇧'),
    altKey: mods.includes('⌥') || isWindowsAltGr,
    modifierAltGraph: isWindowsAltGr || mods.includes('⎆'),
    ...given,
  });
}

type Row = [mods: string, key: string, code: string, action: string | null];

const LAYOUTS: Record<string, Row[]> = {
  US: [
    ['^', '/', 'Slash', 'sheet'],
    ['^⇧', '?', 'Slash', null],
    ['^⇧', '/', 'NumpadDivide', null],
    ['^', ',', 'Comma', 'settings'],
    ['^⇧', '<', 'Comma', null],
    ['^', '1', 'Digit1', 'session1'],
    ['^', '9', 'Numpad9', 'session9'],
    ['^', '0', 'Digit0', null],
    ['^⇧', '!', 'Digit1', null],
    ['^', 'n', 'KeyN', 'newSession'],
    ['^', 'N', 'KeyN', 'newSession'],
    ['^⇧', 'N', 'KeyN', null],
    ['^⇧', 'D', 'KeyD', 'changes'],
    ['^', 'd', 'KeyD', null],
    ['^⌥', 'n', 'KeyN', null],
    ['', 'n', 'KeyN', null],
  ],
  Dvorak: [
    ['^', 'n', 'KeyL', 'newSession'],
    ['^', 'b', 'KeyN', 'sidebar'],
    ['^', ',', 'KeyW', 'settings'],
    ['^', '/', 'BracketLeft', 'sheet'],
    ['^', "'", 'KeyQ', null],
    ['^', 'z', 'Slash', null],
  ],
  German: [
    ['^⇧', '/', 'Digit7', 'sheet'],
    ['^', '7', 'Digit7', 'session7'],
    ['^', '-', 'Slash', null],
    ['^⇧', '_', 'Slash', null],
    ['^', ',', 'Comma', 'settings'],
    ['^⇧', ';', 'Comma', null],
    ['^', 'ü', 'BracketLeft', null],
    ['^', 'Dead', 'Equal', null],
    ['⎇', '{', 'Digit7', null],
    ['⎇', '@', 'KeyQ', null],
    ['^⎆', '/', 'Digit7', null],
  ],
  French: [
    ['^', '&', 'Digit1', 'session1'],
    ['^', 'é', 'Digit2', 'session2'],
    ['^', '"', 'Digit3', 'session3'],
    ['^', 'è', 'Digit7', 'session7'],
    ['^', 'ç', 'Digit9', 'session9'],
    ['^', 'à', 'Digit0', null],
    ['^⇧', '1', 'Digit1', 'session1'],
    ['^⇧', '/', 'Period', 'sheet'],
    ['^', ':', 'Period', null],
    ['^', ',', 'KeyM', 'settings'],
    ['^', 'n', 'KeyN', 'newSession'],
    ['^', 'a', 'KeyQ', null],
    ['^', 'Dead', 'BracketLeft', null],
    ['⎇', '~', 'Digit2', null],
  ],
  Russian: [
    ['^', 'т', 'KeyN', 'newSession'],
    ['^', 'Т', 'KeyN', 'newSession'],
    ['^', 'щ', 'KeyO', 'openFolder'],
    ['^', 'л', 'KeyK', 'palette'],
    ['^⇧', 'В', 'KeyD', 'changes'],
    ['^', 'в', 'KeyD', null],
    ['^⇧', 'Т', 'KeyN', null],
    ['^', 'б', 'Comma', 'settings'],
    ['^⇧', '/', 'Backslash', 'sheet'],
    ['^', '.', 'Slash', null],
    ['^', '3', 'Digit3', 'session3'],
  ],
  Greek: [
    ['^', 'ν', 'KeyN', 'newSession'],
    ['^', 'κ', 'KeyK', 'palette'],
    ['^⇧', 'Δ', 'KeyD', 'changes'],
    ['^', '/', 'Slash', 'sheet'],
    ['^', 'Dead', 'Semicolon', null],
  ],
  Hebrew: [
    ['^', 'מ', 'KeyN', 'newSession'],
    ['^', 'ל', 'KeyK', 'palette'],
    ['^', ',', 'Quote', 'settings'],
    ['^', '/', 'KeyQ', 'sheet'],
    ['^', '.', 'Slash', null],
  ],
  Arabic: [
    ['^', 'ى', 'KeyN', 'newSession'],
    // One key, two letters.
    ['^', 'لا', 'KeyB', 'sidebar'],
    ['^', '١', 'Digit1', 'session1'],
    ['^', 'ظ', 'Slash', 'sheet'],
  ],
  Persian: [['^', '۴', 'Digit4', 'session4']],
  'Japanese input method': [
    ['^', 'Process', 'KeyN', null],
    ['^', 'n', 'KeyN', 'newSession'],
    // Kana on each key.
    ['^', 'み', 'KeyN', 'newSession'],
    ['^', '・', 'Slash', 'sheet'],
  ],
  'Chinese input method': [
    ['^', 'Process', 'KeyK', null],
    ['^', 'k', 'KeyK', 'palette'],
    ['^', '，', 'Comma', 'settings'],
    ['^', '、', 'Slash', 'sheet'],
  ],
};

describe.each(Object.entries(LAYOUTS))('the window’s keys on a keyboard: %s', (_name, rows) => {
  it.each(rows)('%s %s (%s) → %s', (mods, key, code, action) => {
    expect(actionOf(press(mods, key, code), {}, IDS)).toBe(action);
  });
});

describe('an input method', () => {
  it('has every key of what it composes', () => {
    for (const given of [{ isComposing: true }, { keyCode: 229 }] as KeyboardEventInit[]) {
      const event = press('^', 'n', 'KeyN', given);
      // The old way of saying it is not settable in every engine.
      Object.defineProperty(event, 'keyCode', { value: given.keyCode ?? 78 });
      expect(actionOf(event, {}, IDS)).toBeNull();
      expect(plainKey(event)).toBeNull();
    }
  });
});

describe('keys that were given', () => {
  it('are met by what is on the key before where the key is', () => {
    const given: Shortcuts = { inbox: 'é', newSession: 'm' };
    expect(actionOf(press('^', 'é', 'Digit2'), given, [...IDS, 'inbox'])).toBe('inbox');
    expect(actionOf(press('^', 'm', 'Semicolon'), given, IDS)).toBe('newSession');
  });

  it('are written down so that every layout has them', () => {
    expect(chordIn(press('^', 'ш', 'KeyI'))).toBe('i');
    expect(chordIn(press('^⇧', 'Ш', 'KeyI'))).toBe('shift+i');
    expect(chordIn(press('^⇧', '/', 'Digit7'))).toBe('/');
    expect(chordIn(press('^⇧', '?', 'Slash'))).toBe('?');
    expect(chordIn(press('^', 'ö', 'Semicolon'))).toBe('ö');
    expect(chordIn(press('^', 'Dead', 'Equal'))).toBeNull();
  });

  it('of before, with Shift named beside a character that needs it, still hold', () => {
    expect(actionOf(press('^⇧', '?', 'Slash'), { sheet: 'shift+?' }, IDS)).toBe('sheet');
    expect(actionOf(press('^', 'т', 'KeyN'), { newSession: 'т' }, IDS)).toBe('newSession');
  });

  it('tell everything a press may stand for', () => {
    expect(chordsIn(press('^', '&', 'Digit1'))).toEqual(['&', '1']);
    expect(chordsIn(press('^', 'c', 'KeyC'))).toEqual(['c']);
    expect(chordsIn(press('^', 'с', 'KeyC'))).toEqual(['с', 'c']);
  });
});

describe('a key alone', () => {
  const PLAIN: Row[] = [
    ['', 'n', 'KeyN', 'n'],
    ['⇧', 'N', 'KeyN', 'n'],
    ['', '[', 'BracketLeft', '['],
    ['', 'ArrowDown', 'ArrowDown', 'arrowdown'],
    ['', 'z', 'KeyY', 'z'],
    ['', 'н', 'KeyY', 'y'],
    ['', 'х', 'BracketLeft', '['],
    ['', 'ъ', 'BracketRight', ']'],
    ['', 'υ', 'KeyY', 'y'],
    ['', '【', 'BracketLeft', '['],
    ['', 'ü', 'BracketLeft', 'ü'],
    // A German or French keyboard has brackets with AltGr alone.
    ['⎇', '[', 'Digit8', '['],
    ['⎆', ']', 'Digit9', ']'],
    // No other sign of AltGr is the key that it stands on.
    ['⎇', '€', 'KeyE', '€'],
    // A letter or a digit under AltGr is nothing of ours, whichever it is.
    ['⎆', 'н', 'KeyY', null],
    ['⎆', 'y', 'KeyY', null],
    ['⎇', 'y', 'KeyY', null],
    ['⎆', 'n', 'KeyN', null],
    ['⎆', 'é', 'KeyE', null],
    ['⎆', '1', 'Digit1', null],
    ['⎆', 'Enter', 'Enter', null],
    ['', 'Dead', 'BracketLeft', null],
    ['', 'Process', 'KeyN', null],
    ['^', 'n', 'KeyN', null],
    ['⌥', 'n', 'KeyN', null],
    ['^⌥', 'n', 'KeyN', null],
  ];
  it.each(PLAIN)('%s %s (%s) → %s', (mods, key, code, expected) => {
    expect(plainKey(press(mods, key, code))).toBe(expected);
  });
});
