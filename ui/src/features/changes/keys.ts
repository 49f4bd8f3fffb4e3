/** The keys of the pane of changes: from file to file, from place to place, and what is done to a place. */
import { isTyping } from '../approvals/guard';

interface Parts {
  place: () => HTMLElement;
  isWide: () => boolean;
  nextFile: (step: number) => void;
  comment: (line: number) => void;
}

export function changeKeys({ place, isWide, nextFile, comment }: Parts): (event: KeyboardEvent) => void {
  /** From place to place within the file; past its last one the first comes again. */
  function nextHunk(step: number) {
    const hunks = [...place().querySelectorAll<HTMLElement>('[data-hunk]')];
    const at = hunks.findIndex((hunk) => hunk === document.activeElement);
    const next = at < 0 && step < 0 ? hunks.at(-1) : hunks[(at + step + hunks.length) % hunks.length];
    next?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: 'nearest' });
  }

  /** The buttons of the place that has the focus stand right before it. */
  function press(which: 'first' | 'last') {
    const hunk = document.activeElement?.closest<HTMLElement>('[data-place]');
    const bars = place().querySelectorAll('.place');
    const buttons = bars[Number(hunk?.dataset['place'] ?? -1)]?.querySelectorAll<HTMLElement>('button') ?? [];
    if (which === 'first' && buttons.length < 2) return;
    buttons[which === 'first' ? 0 : buttons.length - 1]?.click();
  }

  const keys: Record<string, () => void> = {
    n: () => nextFile(1),
    p: () => nextFile(-1),
    ']': () => nextHunk(1),
    '[': () => nextHunk(-1),
    k: () => press('first'),
    u: () => press('last'),
    c: () => {
      const line = Number(document.activeElement?.getAttribute('data-hunk'));
      if (line > 0) comment(line);
    },
  };

  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.keyCode === 229) return;
    const isOurs = place().contains(document.activeElement) || isWide();
    if (!isOurs || (!isWide() && isTyping(event.target)) || event.target instanceof HTMLInputElement) return;
    const act = keys[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    // Single letters answer approvals elsewhere in the window.
    event.stopImmediatePropagation();
    act();
  };
}
