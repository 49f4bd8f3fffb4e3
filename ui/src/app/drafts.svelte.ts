/**
 * What is written and not sent, by session; of a session that does not exist yet, by project. It survives a restart, on this
 * machine only.
 */
/** Of more than so many the oldest go. */
const MOST = 50;
/** A longer one is kept for this run only: storage is small. */
const LONGEST = 100_000;
const WAIT_MS = 300;

export class Drafts {
  private all = $state.raw<Readonly<Record<string, string>>>({});
  private waiting: ReturnType<typeof setTimeout> | undefined;

  /** A person was told that what they write may go with the window. */
  private isTold = false;

  constructor(
    private readonly onUnkept: () => void = () => undefined,
    /** What it is stored under. */
    private readonly storedAs = 'bosun.drafts',
  ) {
    this.all = read(storedAs);
    // What was typed last is kept when the page goes.
    window.addEventListener('pagehide', () => this.keep());
  }

  keys(): string[] {
    return Object.keys(this.all);
  }

  of(key: string): string {
    return this.all[key] ?? '';
  }

  write(key: string, text: string): void {
    if (text === this.of(key)) return;
    const others = Object.entries(this.all).filter(([other]) => other !== key);
    this.all = Object.fromEntries(text === '' ? others : [...others, [key, text]]);
    // Who types without a pause is kept all the same.
    this.waiting ??= setTimeout(() => this.keep(), WAIT_MS);
  }

  /** Puts words at the end, on a line of their own unless there is room already. */
  add(key: string, words: string): void {
    const written = this.of(key);
    this.write(key, written && !/\s$/.test(written) ? `${written}\n${words}` : written + words);
  }

  /** Nobody will come back to what was written there. */
  forget(key: string): void {
    this.keepOnly(Object.keys(this.all).filter((other) => other !== key));
  }

  /** Forgets what was written anywhere else. */
  keepOnly(keys: readonly string[]): void {
    const there = new Set(keys);
    const left = Object.entries(this.all).filter(([key]) => there.has(key));
    if (left.length === Object.keys(this.all).length) return;
    this.all = Object.fromEntries(left);
    this.keep();
  }

  /** Stores it now, and not in a moment: what was sent must not be there again. */
  keep(): void {
    clearTimeout(this.waiting);
    this.waiting = undefined;
    const kept = Object.entries(this.all).filter(([, text]) => text.length <= LONGEST);
    // Where storage is full the oldest go until the rest fits.
    for (let newest = kept.slice(-MOST); ; newest = newest.slice(1)) {
      try {
        localStorage.setItem(this.storedAs, JSON.stringify(Object.fromEntries(newest)));
        if (newest.length === 0 && kept.length > 0) this.tellUnkept();
        return;
      } catch (error) {
        // Else what is stored stays, and what is written next is tried again.
        if (!isFull(error) || newest.length === 0) return this.tellUnkept();
      }
    }
  }

  private tellUnkept(): void {
    if (this.isTold) return;
    this.isTold = true;
    this.onUnkept();
  }
}

const isFull = (error: unknown): boolean => error instanceof DOMException && error.name === 'QuotaExceededError';

function read(key: string): Record<string, string> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? '{}');
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isMap ? Object.fromEntries(Object.entries(value).filter(([, text]) => typeof text === 'string')) : {};
  } catch {
    return {};
  }
}
