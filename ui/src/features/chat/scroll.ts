/**
 * Keeps a growing, scrolling list where a person left it. WebKit has no scroll anchoring, so this is ours everywhere:
 * at the end it follows the end; anywhere else the first thing in sight stays where it is, whatever grows above it.
 */

/** As near as this to the end counts as at the end. */
const NEAR_END = 32;
const PIN_MS = 400;
/** So long after a person's last movement the view still moves because of it. */
const MOVES_MS = 500;
const MOVEMENTS = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const;

/** Where a person is in a list that is longer than the page shows. */
export interface Place {
  /** The last row that is in the page, and how many there are up to it. */
  lastId: string | null;
  size: number;
  /** The first thing in sight, and how far below the upper edge it begins, in pixels. */
  key: string;
  top: number;
}

/** What stays where it is, the row it is in, and how far down the window it begins, in pixels. */
interface Anchor {
  element: Element;
  row: Element | null;
  top: number;
}

export class ScrollKeeper {
  /** Whether the end is followed. */
  follows = true;
  private anchor: Anchor | null = null;
  private pinnedUntil = 0;
  private movesUntil = 0;
  /** How high the view and what is in it were when the end was last gone to. */
  private heights = '';
  private readonly resizes: ResizeObserver;
  private readonly onMovement = () => (this.movesUntil = performance.now() + MOVES_MS);

  constructor(
    private readonly view: HTMLElement,
    private readonly content: HTMLElement,
    private readonly onChange: (follows: boolean) => void,
    start: Pick<Place, 'key' | 'top'> | null = null,
  ) {
    this.resizes = new ResizeObserver(() => this.settle());
    this.resizes.observe(content);
    this.resizes.observe(view);
    for (const name of MOVEMENTS) view.addEventListener(name, this.onMovement, { passive: true });
    if (!start || !this.goTo(start)) this.toEnd();
  }

  /** The first thing in sight where the end is not followed. */
  get place(): Pick<Place, 'key' | 'top'> | null {
    const row = this.anchor?.row;
    const key = row instanceof HTMLElement ? row.dataset.key : undefined;
    return row && key !== undefined ? { key, top: row.getBoundingClientRect().top - this.edge() } : null;
  }

  /** Puts the child of that key where it was; false where it is not there. */
  private goTo({ key, top }: Pick<Place, 'key' | 'top'>): boolean {
    const element = [...this.content.children].find((one) => one instanceof HTMLElement && one.dataset.key === key);
    if (!element) return false;
    this.setFollows(false);
    this.anchor = { element, row: element, top: this.edge() + top };
    this.settle();
    return true;
  }

  /** To be called on every scroll of the view; `isWhole` says that its end is the end of everything. */
  scrolled(isWhole = true): void {
    // A view that grows is moved by the browser, and by the time it says so more may stand at the end.
    if (this.follows && this.heights !== this.measured() && performance.now() >= this.movesUntil) {
      this.settle();
      return;
    }
    this.setFollows(isWhole && this.distance() <= NEAR_END);
    this.anchor = this.follows ? null : this.firstInSight();
  }

  /** A person opens or shuts something: it stays under the pointer instead of following the end. */
  pin(element: Element): void {
    this.anchor = { element, row: null, top: element.getBoundingClientRect().top };
    this.pinnedUntil = performance.now() + PIN_MS;
  }

  /** The end is no longer followed: a person goes elsewhere. */
  leave(): void {
    this.setFollows(false);
  }

  toEnd(): void {
    this.anchor = null;
    this.setFollows(true);
    this.goToEnd();
  }

  /** Puts things back after sizes changed. */
  settle(): void {
    const isPinned = performance.now() < this.pinnedUntil;
    if (this.follows && !isPinned) {
      this.goToEnd();
      return;
    }
    const { anchor } = this;
    if (!anchor?.element.isConnected) return;
    const moved = anchor.element.getBoundingClientRect().top - anchor.top;
    if (Math.abs(moved) >= 1) this.view.scrollTop += moved;
    if (isPinned) this.setFollows(this.distance() <= NEAR_END);
  }

  dispose(): void {
    this.resizes.disconnect();
    for (const name of MOVEMENTS) this.view.removeEventListener(name, this.onMovement);
  }

  private goToEnd(): void {
    this.view.scrollTop = this.view.scrollHeight;
    this.heights = this.measured();
  }

  private measured(): string {
    return `${this.view.scrollHeight} ${this.view.clientHeight}`;
  }

  private edge(): number {
    return this.view.getBoundingClientRect().top;
  }

  private distance(): number {
    return this.view.scrollHeight - this.view.scrollTop - this.view.clientHeight;
  }

  private setFollows(follows: boolean): void {
    if (this.follows === follows) return;
    this.follows = follows;
    this.onChange(follows);
  }

  /** The first row that is in sight, or of a long message its first sheet that is. */
  private firstInSight(): Anchor | null {
    const edge = this.edge();
    const row = firstBelow(this.content.children, edge);
    if (!row) return null;
    const element = firstBelow(row.querySelectorAll('.sheet'), edge) ?? row;
    return { element, row, top: element.getBoundingClientRect().top };
  }
}

/** The first whose end is below the edge; they stand in order, so halving finds it. */
function firstBelow(elements: ArrayLike<Element>, edge: number): Element | undefined {
  let low = 0;
  let high = elements.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((elements[middle]?.getBoundingClientRect().bottom ?? 0) > edge) high = middle;
    else low = middle + 1;
  }
  return elements[low];
}
