/** Words that are looked for in a conversation: the rows that have them, and those before the rows that are known. */
import type { Item } from '../../ipc/bindings';
import { hasWords, wordsOf } from '../../shared/text/words';
import type { SessionFeed } from '../session/feed.svelte';
import { textOf } from './find';

/** Rows that are fetched at once on the way to one that is far up. */
export const REACH = 500;

/** What the conversation knows of its rows. */
interface Place {
  /** Those that are shown. */
  rows: () => readonly Item[];
  /** Whether a row would be among them. */
  isShown: (item: Item) => boolean;
  isOn: () => boolean;
  run: <T>(action: () => Promise<T>) => Promise<T | undefined>;
}

export class Finding {
  typed = $state('');
  /** The row that was gone to. */
  found = $state<string | null>(null);
  /** How many of the earlier rows were looked through so far; `null` while nobody looks through them. */
  progress = $state.raw<{ passed: number; of: number } | null>(null);
  /** The words are in no earlier row either. */
  isVain = $state(false);
  readonly words = $derived(wordsOf(this.typed));
  readonly rows = $derived.by(() => (this.place.isOn() ? this.fitting() : []));
  readonly at = $derived(this.found === null ? -1 : this.rows.indexOf(this.found));

  /** Whether rows have the words that are looked for: while rows come, those that were there are not read again. */
  private known = new WeakMap<Item, boolean>();
  /** Another look ends the one before. */
  private look: symbol | null = null;

  constructor(
    private readonly feed: SessionFeed,
    private readonly place: Place,
  ) {}

  /** The newest row with what is typed now: what is looked for was mostly said lately. */
  search(typed: string): string | null {
    this.stop();
    this.typed = typed;
    this.known = new WeakMap();
    this.isVain = false;
    return this.rows.at(-1) ?? null;
  }

  /** The find so many steps further; from none the newest comes first. */
  next(step: number): string | null {
    const from = this.at < 0 ? this.rows.length : this.at;
    return this.rows[(from + step + this.rows.length) % this.rows.length] ?? null;
  }

  /** The next row with the words before those that are known; `null` where a person stopped it, or none is left. */
  async earlier(): Promise<string | null> {
    const hit = await this.lookBack((item) => this.place.isShown(item) && this.fits(item));
    if (hit === null) this.isVain = true;
    return hit ?? null;
  }

  /**
   * Fetches page after page until a row fits, which is then known with all behind it; what was fetched in vain is
   * forgotten. `null` where none is left, `undefined` where it was ended before.
   */
  async lookBack(fits: (item: Item) => boolean): Promise<string | null | undefined> {
    const look = (this.look = Symbol());
    const pages: Item[][] = [];
    const of = this.feed.snapshot?.items_before ?? 0;
    const start = this.feed.snapshot?.items[0]?.id;
    let passed = 0;
    this.progress = { passed, of };
    for (let before = start; start !== undefined && before !== undefined; before = pages.at(-1)?.[0]?.id) {
      const id = before;
      const page = await this.place.run(() => this.feed.page(id, REACH));
      if (this.look !== look) return undefined;
      if (!page || page.length === 0) {
        this.stop();
        return page ? null : undefined;
      }
      pages.push(page);
      passed += page.length;
      this.progress = { passed, of };
      const hit = page.findLast(fits);
      if (!hit) continue;
      const isTaken = this.feed.know(pages.toReversed().flat(), start);
      this.stop();
      // The session was told anew meanwhile, or its oldest rows were let go.
      return isTaken ? hit.id : this.lookBack(fits);
    }
    this.stop();
    return null;
  }

  stop(): void {
    this.look = null;
    this.progress = null;
  }

  private fitting(): string[] {
    if (this.words.length === 0) return [];
    return this.place.rows().flatMap((item) => (this.fits(item) ? [item.id] : []));
  }

  private fits(item: Item): boolean {
    const known = this.known.get(item);
    if (known !== undefined) return known;
    const fits = hasWords(textOf(item), this.words);
    this.known.set(item, fits);
    return fits;
  }
}
