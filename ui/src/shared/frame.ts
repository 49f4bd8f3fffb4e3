/** When there is to be drawn what nobody waits for with a finger on a key. */

let isPressed = false;
window.addEventListener('keydown', () => (isPressed = true), { capture: true });

/**
 * Calls before the next frame is drawn or, where a key was pressed meanwhile, before the one after it: what a person types
 * is drawn first and alone. That frame is never given away as well, so that who types all the time sees the rest too.
 */
export function beforeCalmFrame(act: () => void): void {
  requestAnimationFrame(() => {
    const isTheirs = isPressed;
    isPressed = false;
    if (isTheirs) requestAnimationFrame(act);
    else act();
  });
}
