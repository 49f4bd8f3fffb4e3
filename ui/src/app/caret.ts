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
  const nudge = new Nudge();

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
      if (fieldWithCaret() === field) nudge.give(field);
      after(RESTS_AGAIN_MS, rest);
    });
  }

  function moved(event: Event): void {
    if (event.type === 'focusout') nudge.takeBack();
    after(RESTS_AFTER_MS, rest);
  }
  for (const move of MOVES) document.addEventListener(move, moved, { capture: true, passive: true });
  return () => {
    isOver = true;
    clearTimeout(timer);
    nudge.takeBack();
    for (const move of MOVES) document.removeEventListener(move, moved, { capture: true });
  };
}

/** Fields without text have none. */
const WITH_CARET = 'textarea, input:not([type=checkbox], [type=radio], [type=file], [type=range], [type=color])';

function fieldWithCaret(): HTMLElement | null {
  const field = document.activeElement;
  if (!document.hasFocus() || !(field instanceof HTMLElement)) return null;
  return field.matches(WITH_CARET) || field.isContentEditable ? field : null;
}

/** Caret by caret: one begins anew where it is elsewhere than before, be it by less than can be seen. */
class Nudge {
  private field: HTMLElement | null = null;

  give(field: HTMLElement): void {
    if (this.field) return this.takeBack();
    const { position } = getComputedStyle(field);
    if (field.style.left !== '' || (position !== 'static' && position !== 'relative')) return;
    this.field = field;
    field.style.position = 'relative';
    field.style.left = '0.02px';
  }

  takeBack(): void {
    for (const property of ['position', 'left']) this.field?.style.removeProperty(property);
    this.field = null;
  }
}
