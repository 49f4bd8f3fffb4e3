/**
 * What a person writes in place and has not sent: an answer to a request, a message or a todo in other words. By what it is
 * about; it survives a restart as the drafts do, on this machine only.
 */
import { untrack } from 'svelte';
import { SvelteSet } from 'svelte/reactivity';
import type { Decide } from '../ipc/bindings';
import { Drafts } from './drafts.svelte';

const KEY = 'bosun.unsent';

export class Unsent {
  private readonly kept: Drafts;
  /** What is not stored, or not yet: it may be a secret. */
  private readonly here = new Map<string, unknown>();
  private readonly away = new SvelteSet<string>();

  constructor(onUnkept?: () => void) {
    this.kept = new Drafts(onUnkept, KEY);
  }

  /** What was written there, if it is what is written there today. */
  of<T>(key: string, isSound: (value: unknown) => value is T): T | undefined {
    try {
      const value: unknown = this.here.has(key) ? this.here.get(key) : JSON.parse(this.kept.of(key));
      return isSound(value) ? value : undefined;
    } catch {
      return undefined;
    }
  }

  /** Words that were written there; `null` where nobody writes. */
  words(key: string): string | null {
    return this.of(key, isWords) ?? null;
  }

  /** `undefined` where nobody writes any more. It may be kept from within an effect, which does not hang on what is kept. */
  put(key: string, written: unknown): void {
    this.here.delete(key);
    untrack(() => {
      if (written === undefined) this.kept.forget(key);
      else this.kept.write(key, JSON.stringify(written));
    });
  }

  /** Keeps it for this run, and stores it once it is known to be no secret. */
  async putUnlessSecret(key: string, written: unknown, isSecret: () => Promise<boolean>): Promise<void> {
    this.here.set(key, written);
    const mayNot = await isSecret().catch(() => true);
    // It became other words meanwhile, or was sent.
    if (this.here.get(key) !== written) return;
    if (mayNot) this.kept.forget(key);
    else this.put(key, written);
  }

  /** Gives it away, and forgets it where that is taken, as it was given. Until then it is nobody's to move. */
  async give(key: string, away: () => Promise<boolean>): Promise<boolean> {
    const given = this.written(key);
    this.away.add(key);
    try {
      const isTaken = await away();
      if (isTaken && this.written(key) === given) this.forget(key);
      return isTaken;
    } finally {
      this.away.delete(key);
    }
  }

  /** As it is stored, wherever it is. */
  private written(key: string): string {
    return this.here.has(key) ? JSON.stringify(this.here.get(key)) : this.kept.of(key);
  }

  isAway(key: string): boolean {
    return this.away.has(key);
  }

  /** It was sent, or given up by the person, and is not there again. */
  forget(key: string): void {
    this.put(key, undefined);
  }

  /** What begins with `kind`, without it. */
  keysOf(kind: string): string[] {
    return [...new Set([...this.kept.keys(), ...this.here.keys()])].flatMap((key) =>
      key.startsWith(kind) ? [key.slice(kind.length)] : [],
    );
  }

  /** Forgets the answers that were begun in these sessions to any other request: nobody can give them any more. */
  keepAnswers(sessions: readonly string[], open: readonly Pick<Decide, 'session' | 'call_id' | 'digest'>[]): void {
    const there = new Set(open.map(answerKey));
    for (const rest of this.keysOf(ANSWER)) {
      const key = ANSWER + rest;
      if (sessions.includes(sessionOf(key)) && !there.has(key)) this.forget(key);
    }
  }

  /** Forgets what was written in any other session, but for answers: a subagent asks in one that no list has. */
  keepOnly(sessions: readonly string[]): void {
    const there = new Set(sessions);
    const stays = (key: string) => key.startsWith(ANSWER) || there.has(sessionOf(key));
    for (const key of this.here.keys()) if (!stays(key)) this.here.delete(key);
    this.kept.keepOnly(this.kept.keys().filter(stays));
  }
}

const isWords = (value: unknown): value is string => typeof value === 'string';

/** Every key is a kind, and the session behind it. */
const sessionOf = (key: string): string => /:([^/]*)/.exec(key)?.[1] ?? '';

const ANSWER = 'answer:';
/** What is begun as the answer to one request, and to no other that its call may make. */
export const answerKey = ({ session, call_id, digest }: Pick<Decide, 'session' | 'call_id' | 'digest'>): string =>
  `${ANSWER}${session}/${call_id}/${digest}`;

/** A message that waits, in other words. */
export const queuedKey = (session: string, message: string): string => `queued:${session}/${message}`;

/** A line of the plan in other words. */
export const todoKey = (session: string, todo: string): string => `todo:${session}/${todo}`;

/** A line that is added to the plan. */
export const newTodoKey = (session: string): string => `new-todo:${session}`;
