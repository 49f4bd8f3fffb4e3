/**
 * What goes along with the messages that are being written: one for each session and for the one to come, as with the
 * drafts. It survives a restart, on this machine only.
 */
import { Along, soundKept, type Kept } from '../features/chat/along.svelte';
import { i18n } from '../shared/i18n/i18n.svelte';
import { said } from '../shared/problem';
import type { Workspace } from './workspace.svelte';

const KEY = 'bosun.alongs';
/** Of more than so many the oldest go. */
const MOST = 50;

export class Alongs {
  /** A person wants to choose files for the message; the message box takes the wish. */
  isPicking = $state(false);
  private readonly open = new Map<string, Along>();
  private kept: Record<string, Kept> = read();

  constructor(private readonly workspace: Workspace) {}

  of(key: string): Along {
    const known = this.open.get(key);
    if (known) return known;
    const made = new Along(
      this.workspace.client,
      (message) => this.workspace.fail(said('invalid', message)),
      (name) => i18n.t.attachments.tooLarge(name),
      i18n.t.attachments.unnamed,
      () => this.keep(key, made.kept()),
    );
    const { [key]: before } = this.kept;
    if (before) made.restore(before);
    this.open.set(key, made);
    return made;
  }

  /** Takes what stood with a message that could not be sent, beside what is there. */
  put(key: string, { files, names }: Kept): void {
    const along = this.of(key);
    const there = along.kept();
    along.restore({ files: [...there.files, ...files], names: [...there.names, ...names] });
    this.keep(key, along.kept());
  }

  /** Forgets what was meant to go along anywhere else. */
  keepOnly(keys: readonly string[]): void {
    const there = new Set(keys);
    for (const key of this.open.keys()) if (!there.has(key)) this.open.delete(key);
    this.kept = Object.fromEntries(Object.entries(this.kept).filter(([key]) => there.has(key)));
    this.store();
  }

  /** Nobody will come back to it. */
  forget(key: string): void {
    this.keepOnly([...this.open.keys(), ...Object.keys(this.kept)].filter((other) => other !== key));
  }

  private keep(key: string, now: Kept): void {
    const others = Object.entries(this.kept).filter(([other]) => other !== key);
    const isEmpty = now.files.length === 0 && now.names.length === 0;
    this.kept = Object.fromEntries(isEmpty ? others : [...others, [key, now] as const].slice(-MOST));
    this.store();
  }

  private store(): void {
    try {
      localStorage.setItem(KEY, JSON.stringify(this.kept));
    } catch {
      // Storage is full or switched off, which is told of the words: it then lasts for this run.
    }
  }
}

function read(): Record<string, Kept> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, soundKept(one)]))
      : {};
  } catch {
    return {};
  }
}
