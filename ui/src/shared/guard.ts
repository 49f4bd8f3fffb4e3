/**
 * What keeps a decision from being made by accident: a card counts for nothing until it has been in sight for a moment,
 * a press must begin and end on the same card, and a click that only brings the window to the front decides nothing.
 */

const GUARD_MS = 300;
const FOCUS_MS = 250;

let focusedAt = -Infinity;
window.addEventListener('focus', () => (focusedAt = performance.now()));

export class Guard {
  private readonly shownAt = performance.now();
  private pressedAt: number | null = null;

  /** Whether the card has been in sight long enough for keys to count. */
  isReady(): boolean {
    return performance.now() - this.shownAt >= GUARD_MS;
  }

  /** Notes where a press began. */
  pressed(): void {
    const at = performance.now();
    const isFocusing = at - focusedAt < FOCUS_MS;
    this.pressedAt = isFocusing || !this.isReady() ? null : at;
  }

  /** Whether a click is a decision. One made with the keyboard on a focused button has no press before it. */
  allows(event: MouseEvent): boolean {
    const isByKeyboard = event.detail === 0;
    const isMeant = isByKeyboard ? this.isReady() : this.pressedAt !== null;
    this.pressedAt = null;
    return isMeant;
  }
}

/** What takes letters; a box that is ticked does not. */
const FIELDS = 'input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable]';

/** Whether keys go into a text at the moment, or belong to something that is open over the card. */
export function isTyping(target: EventTarget | null): boolean {
  // Behind a dialog of the window nothing is answered, wherever the focus went.
  if (document.querySelector('.scrim')) return true;
  if (!(target instanceof Element)) return false;
  return target.closest(`${FIELDS}, [role="dialog"][aria-modal="true"], .menu`) !== null;
}
