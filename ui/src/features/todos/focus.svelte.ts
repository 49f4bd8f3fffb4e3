import { tick, untrack } from 'svelte';

interface Rows {
  /** Whatever they stand in their places by. */
  order: () => unknown;
  session: () => string | undefined;
  /** Whether others lie over them, which keep the keys then. */
  isCovered?: () => boolean;
  /** Whether the line that is added has these words. */
  hasWords: (words: string) => boolean;
  toLine: () => void;
}

/**
 * What has the keys keeps them while rows change places: one that is moved in the page would lose them. Who rewords a todo
 * goes on where its field is now, in the same session. Where the field is gone that is the line that has its words; where
 * none were written it is the todo itself, if it is there.
 */
export function keepFocus({ order, session, isCovered = () => false, hasWords, toLine }: Rows): void {
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
    if (untrack(isCovered)) return;
    if (document.activeElement !== document.body || !(held instanceof HTMLElement)) return;
    if (held.isConnected) return held.focus();
    if (!isSame || of === null || !(held instanceof HTMLInputElement)) return;
    const { selectionStart, selectionEnd, value } = held;
    const todo = of;
    const field = partOf<HTMLInputElement>(todo, 'input');
    if (!field) return void tick().then(() => goOn(todo, value.trim()));
    field.focus();
    field.setSelectionRange(selectionStart, selectionEnd);
  });

  /** The words came into the line with the same news. */
  function goOn(todo: string, words: string) {
    if (hasWords(words)) toLine();
    else partOf<HTMLElement>(todo, 'button')?.focus();
  }
}

const todoAt = (field: Element): string | null => field.closest<HTMLElement>('[data-todo]')?.dataset.todo ?? null;

/** The first such part of its card; of what lies over the window where it is there twice. */
const partOf = <Part extends Element>(todo: string, name: string): Part | undefined =>
  [...document.querySelectorAll<HTMLElement>('[data-todo]')]
    .findLast((card) => card.dataset.todo === todo)
    ?.querySelector<Part>(name) ?? undefined;
