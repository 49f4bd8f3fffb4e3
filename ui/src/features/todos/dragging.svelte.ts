/**
 * A todo that is dragged to another place of its lane. What is at work and what is done is the agent's to say, so another
 * lane takes none, and shows it. A picture of the card goes with the pointer, for what scrolls would cut off the card itself.
 */
import { on } from 'svelte/events';
import type { Attachment } from 'svelte/attachments';
import type { Todo } from '../../ipc/bindings';

/** A hand is not quite still when it presses, in pixels. */
const STILL = 5;
/** So near to its edge the lane scrolls, and so far with each frame. */
const EDGE = 28;
const STRIDE = 9;

interface Deeds {
  /** It was put to a place among the others of its lane, from 0. */
  onMove: (id: string, place: number) => void;
  /** It was put where it cannot be. */
  onRefused: (id: string, lane: Todo['status']) => void;
  /** What is said beside the card while it is there. */
  refusal: () => string;
}

export class Dragging {
  /** The todo that is dragged. */
  lifted = $state<string | null>(null);
  /** The card that it would stand beside, if it were let go. */
  place = $state.raw<{ beside: string; side: 'before' | 'after'; at: number } | null>(null);
  /** The lane over which it is, and which does not take it. */
  refusing = $state<Todo['status'] | null>(null);

  constructor(private readonly deeds: Deeds) {}

  /** On which side of a card the dragged one would stand. */
  sideOf = (id: string): 'before' | 'after' | null => (this.place?.beside === id ? this.place.side : null);

  /** The card of a todo, which stands in an element with `data-lane`. */
  card = (id: string): Attachment<HTMLElement> => {
    return (card) => {
      let end: (() => void) | undefined;
      const stop = on(card, 'pointerdown', (event) => {
        // A finger scrolls; a field and a menu on the card have presses of their own.
        const isOwn = event.target instanceof Element && event.target.closest('input, .more, .menu') !== null;
        if (event.button !== 0 || event.pointerType === 'touch' || isOwn) return;
        end?.();
        end = this.follow(id, card, event);
      });
      return () => {
        stop();
        end?.();
      };
    };
  };

  /** Follows a press until it is over. Gives back how it is ended from here. */
  private follow(id: string, card: HTMLElement, press: PointerEvent): () => void {
    let picture: HTMLElement | null = null;
    let at = { x: press.clientX, y: press.clientY };
    let frame = 0;

    const begin = () => {
      card.setPointerCapture(press.pointerId);
      picture = pictureOf(card);
      this.lifted = id;
      roll();
    };
    const show = () => {
      picture?.style.setProperty('translate', `${at.x - press.clientX}px ${at.y - press.clientY}px`);
      this.aim(card, at);
      if (this.refusing === null) picture?.removeAttribute('data-refused');
      else picture?.setAttribute('data-refused', this.deeds.refusal());
    };
    const roll = () => {
      frame = requestAnimationFrame(roll);
      if (scrollAlong(card, at.y)) show();
    };
    const over = () => {
      cancelAnimationFrame(frame);
      for (const stop of listeners) stop();
      picture?.remove();
      if (this.lifted !== id) return;
      [this.lifted, this.place, this.refusing] = [null, null, null];
    };
    const letGo = () => {
      const wasLifted = this.lifted === id;
      // The plan may have become another under a hand that did not move.
      if (wasLifted) this.aim(card, at);
      const { place, refusing } = this;
      over();
      if (!wasLifted) return;
      passOverClick();
      if (place) this.deeds.onMove(id, place.at);
      else if (refusing) this.deeds.onRefused(id, refusing);
    };
    const listeners = [
      on(window, 'pointermove', (event) => {
        if (event.pointerId !== press.pointerId) return;
        at = { x: event.clientX, y: event.clientY };
        const isStill = Math.hypot(at.x - press.clientX, at.y - press.clientY) < STILL;
        if (this.lifted === null && !isStill) begin();
        if (this.lifted === id) show();
      }),
      on(window, 'pointerup', (event) => event.pointerId === press.pointerId && letGo()),
      on(window, 'pointercancel', over),
      on(card, 'lostpointercapture', over),
      // Nothing else is closed by the key that gives it up.
      on(
        window,
        'keydown',
        (event) => {
          if (event.key !== 'Escape' || this.lifted !== id) return;
          event.preventDefault();
          event.stopImmediatePropagation();
          over();
          // The hand still holds it.
          window.addEventListener('pointerup', passOverClick, { once: true });
        },
        { capture: true },
      ),
    ];
    return over;
  }

  /** Finds where it would stand. */
  private aim(card: HTMLElement, { x, y }: { x: number; y: number }): void {
    const own = card.closest<HTMLElement>('[data-lane]');
    const under = document.elementFromPoint(x, y)?.closest<HTMLElement>('[data-lane]') ?? null;
    this.place = null;
    this.refusing = under && under !== own ? ((under.dataset.lane ?? null) as Todo['status'] | null) : null;
    if (!own || under !== own) return;
    const cards = [...own.querySelectorAll<HTMLElement>('[data-todo]')];
    const others = cards.filter((one) => one !== card);
    const at = others.filter((one) => middleOf(one) < y).length;
    const beside = others[Math.min(at, others.length - 1)]?.dataset.todo;
    if (beside !== undefined && at !== cards.indexOf(card))
      this.place = { beside, side: at < others.length ? 'before' : 'after', at };
  }
}

function middleOf(card: HTMLElement): number {
  const { top, bottom } = card.getBoundingClientRect();
  return (top + bottom) / 2;
}

function pictureOf(card: HTMLElement): HTMLElement {
  const { left, top, width } = card.getBoundingClientRect();
  const picture = card.cloneNode(true) as HTMLElement;
  picture.inert = true;
  picture.ariaHidden = 'true';
  picture.classList.add('dragged');
  // It stands for no todo.
  picture.removeAttribute('data-todo');
  for (const [name, px] of Object.entries({ left, top, width })) picture.style.setProperty(name, `${px}px`);
  document.body.append(picture);
  return picture;
}

/** Scrolls what the card stands in where the pointer is at its edge. */
function scrollAlong(card: HTMLElement, y: number): boolean {
  for (let around = card.parentElement; around; around = around.parentElement) {
    if (around.scrollHeight <= around.clientHeight || !/auto|scroll/.test(getComputedStyle(around).overflowY)) continue;
    const { top, bottom } = around.getBoundingClientRect();
    const before = around.scrollTop;
    if (y < top + EDGE) around.scrollTop -= STRIDE;
    else if (y > bottom - EDGE) around.scrollTop += STRIDE;
    return around.scrollTop !== before;
  }
  return false;
}

/** The press that ends here was none on what lies under it. */
function passOverClick(): void {
  const stop = on(window, 'click', (event) => event.stopPropagation(), { capture: true });
  setTimeout(stop);
}
