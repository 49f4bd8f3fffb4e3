/** The keys of the pane of changes: from file to file, place to place and line to line, and what is done to them. */
import { isTyping } from '../../shared/guard';
import { plainKey } from '../../shared/press';

interface Parts {
  place: () => HTMLElement;
  isWide: () => boolean;
  nextFile: (step: number) => void;
}

export function changeKeys({ place, isWide, nextFile }: Parts): (event: KeyboardEvent) => void {
  /** From place to place within the file; past its last one the first comes again. */
  function nextHunk(step: number) {
    const hunks = [...place().querySelectorAll<HTMLElement>('[data-hunk]')];
    const at = hunks.findIndex((hunk) => hunk.contains(document.activeElement));
    const next = at < 0 && step < 0 ? hunks.at(-1) : hunks[(at + step + hunks.length) % hunks.length];
    next?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: 'nearest' });
  }

  /** From line to line of the place that has the focus; elsewhere the arrows are not ours. */
  function nextLine(step: number): boolean {
    const lines = [
      ...(document.activeElement?.closest('[data-hunk]')?.querySelectorAll<HTMLElement>('[data-line]') ?? []),
    ];
    const at = lines.findIndex((line) => line === document.activeElement);
    const next = at < 0 ? (step > 0 ? lines[0] : lines.at(-1)) : lines[at + step];
    next?.focus();
    return lines.length > 0;
  }

  /** The buttons of the place that has the focus; the only one has those of its file. */
  function press(what: 'keep' | 'undo') {
    const hunk = document.activeElement?.closest<HTMLElement>('[data-place]');
    const file = hunk?.closest('section');
    if (!hunk || !file) return;
    const isOnly = file.querySelectorAll('[data-place]').length === 1;
    const bar = file.querySelectorAll('.place')[Number(hunk.dataset['place'])] ?? (isOnly ? file : null);
    bar?.querySelector<HTMLElement>(`[data-does=${what}]`)?.click();
  }

  /** `false` is the answer of a key that is not ours where the focus is. */
  const keys: Record<string, () => unknown> = {
    n: () => nextFile(1),
    p: () => nextFile(-1),
    ']': () => nextHunk(1),
    '[': () => nextHunk(-1),
    k: () => press('keep'),
    u: () => press('undo'),
    c: () => {
      const focus = document.activeElement;
      const line = focus?.matches('[data-hunk]') ? focus.querySelector('[data-line]') : focus?.closest('[data-line]');
      // Beside each other the line of now comes last.
      [...(line?.querySelectorAll<HTMLElement>('.pick') ?? [])].at(-1)?.click();
    },
    arrowdown: () => nextLine(1),
    arrowup: () => nextLine(-1),
  };

  return (event) => {
    const key = plainKey(event);
    if (key === null) return;
    const isOurs = place().contains(document.activeElement) || isWide();
    if (!isOurs || (!isWide() && isTyping(event.target)) || event.target instanceof HTMLInputElement) return;
    const act = keys[key];
    if (!act || act() === false) return;
    event.preventDefault();
    // Single letters answer approvals elsewhere in the window.
    event.stopImmediatePropagation();
  };
}
