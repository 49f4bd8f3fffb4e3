/**
 * A caret blinks for a while after the last key and then stands still, as in other windows of the desktop: the engine of the
 * page would have it blink for ever, and paint for each blink.
 */
import type { UiClient } from '../ipc/client';

export const RESTS_AFTER_MS = 10_000;
/** Something may have made it begin anew without a key: it is put to rest again. */
export const RESTS_AGAIN_MS = 60_000;
/** The engine hears of the system's settings on a way of its own. */
export const HEARD_MS = 300;

/** What a caret may have moved with. */
const MOVES = ['keydown', 'input', 'pointerdown', 'focusin', 'focusout', 'selectionchange'] as const;

/** Sees to it until it is called off. */
export function restCaret(client: Pick<UiClient, 'restCaret'>): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;

  function after(milliseconds: number, act: () => void): void {
    clearTimeout(timer);
    timer = isOver ? undefined : setTimeout(act, milliseconds);
  }

  async function rest(): Promise<void> {
    const field = fieldWithCaret();
    if (!field) return;
    const mine = timer;
    try {
      await client.restCaret();
    } catch (error) {
      return console.warn('the caret goes on blinking', error);
    }
    // It moved meanwhile, and blinks for it.
    if (mine !== timer) return;
    after(HEARD_MS, () => {
      if (fieldWithCaret() === field) beginAnew(field);
      after(RESTS_AGAIN_MS, rest);
    });
  }

  const moved = () => after(RESTS_AFTER_MS, rest);
  for (const move of MOVES) document.addEventListener(move, moved, { capture: true, passive: true });
  return () => {
    isOver = true;
    clearTimeout(timer);
    for (const move of MOVES) document.removeEventListener(move, moved, { capture: true });
  };
}

function fieldWithCaret(): HTMLElement | null {
  const field = document.activeElement;
  if (!document.hasFocus() || !(field instanceof HTMLElement)) return null;
  return field.matches('textarea, input') || field.isContentEditable ? field : null;
}

/** A caret begins anew where it is elsewhere than before, be it by less than can be seen. */
function beginAnew(field: HTMLElement): void {
  const { style } = field;
  if (style.left !== '') {
    style.removeProperty('position');
    style.removeProperty('left');
  } else if (getComputedStyle(field).position === 'static') {
    style.position = 'relative';
    style.left = '0.02px';
  } else if (getComputedStyle(field).position === 'relative') {
    style.left = '0.02px';
  }
}
