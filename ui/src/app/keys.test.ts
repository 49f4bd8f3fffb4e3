import { describe, expect, it } from 'vitest';
import { actionOf, chordIn, chordName, chordOf, holderOf, isReserved } from './keys';
import type { CommandId } from './commands';

const IDS: CommandId[] = ['newSession', 'palette', 'changes', 'find', 'inbox'];
const press = (key: string, given: KeyboardEventInit = {}) =>
  new KeyboardEvent('keydown', { key, ctrlKey: true, ...given });

describe('the window’s keys', () => {
  it('are the usual ones until a person gives others', () => {
    expect(actionOf(press('n'), {}, IDS)).toBe('newSession');
    expect(actionOf(press('D', { shiftKey: true }), {}, IDS)).toBe('changes');
    const given = { newSession: 'j', palette: '' };
    expect(actionOf(press('n'), given, IDS)).toBeNull();
    expect(actionOf(press('j'), given, IDS)).toBe('newSession');
    expect(actionOf(press('k'), given, IDS)).toBeNull();
    expect(chordOf('inbox', { inbox: 'i' })).toBe('i');
  });

  it('know who has them, so that no two commands do', () => {
    expect(holderOf('k', {}, IDS)).toBe('palette');
    expect(holderOf('k', { palette: 'p' }, IDS)).toBeNull();
    expect(holderOf('p', { palette: 'p' }, IDS)).toBe('palette');
  });

  it('leave text, sessions and input methods alone', () => {
    for (const chord of ['1', '9', 'c', 'v', 'x', 'z', 'a', 'shift+z']) expect(isReserved(chord)).toBe(true);
    expect(isReserved('k')).toBe(false);
    expect(actionOf(press('3'), {}, IDS)).toBe('session3');
    expect(chordIn(press('n', { altKey: true }))).toBeNull();
    expect(chordIn(press('n', { isComposing: true }))).toBeNull();
    expect(chordIn(press('n', { ctrlKey: false }))).toBeNull();
    expect(chordIn(press('Enter'))).toBeNull();
    expect(actionOf(press('Escape', { ctrlKey: false }), {}, IDS)).toBe('escape');
  });

  it('are written as people know them', () => {
    expect(chordName('shift+d')).toBe('Ctrl ⇧ D');
    expect(chordName(',')).toBe('Ctrl ,');
  });
});
