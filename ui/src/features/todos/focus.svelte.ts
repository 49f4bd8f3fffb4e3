import { tick } from 'svelte';

/**
 * What has the keys keeps them while rows change places: one that is moved in the page would lose them. Who rewords a todo
 * goes on where its field is now, or at the line that has the words (`onLeft`) where the field is gone, in the same session.
 */
export function keepFocus(order: () => unknown, session: () => string | undefined, onLeft: () => void): void {
  let last: string | undefined;
  let held: Element | null = null;
  let of: string | null = null;
  $effect.pre(() => {
    order();
    held = document.activeElement;
    of = held instanceof HTMLInputElement ? todoAt(held) : null;
  });
  $effect(() => {
    order();
    const isSame = last === session();
    last = session();
    if (document.activeElement !== document.body || !(held instanceof HTMLElement)) return;
    if (held.isConnected) return held.focus();
    if (!isSame || of === null || !(held instanceof HTMLInputElement)) return;
    const { selectionStart, selectionEnd } = held;
    const field = fieldOf(of);
    // The words come into the line with the same news.
    if (!field) return void tick().then(onLeft);
    field.focus();
    field.setSelectionRange(selectionStart, selectionEnd);
  });
}

const todoAt = (field: Element): string | null => field.closest<HTMLElement>('[data-todo]')?.dataset.todo ?? null;

const fieldOf = (todo: string): HTMLInputElement | undefined =>
  [...document.querySelectorAll<HTMLInputElement>('[data-todo] input')].find((field) => todoAt(field) === todo);
