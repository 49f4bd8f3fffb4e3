/**
 * A session's state as the fold of its events. Pure, and tested against the same recorded journal as the Rust projection.
 *
 * The law: a snapshot at k, then every event after k, equals the snapshot at the end; an envelope at or below the known
 * `seq` changes nothing.
 */
import type { Approval, Delta, Envelope, Item, ItemBody, SessionEvent, Snapshot } from '../../ipc/bindings';
import { noteGrowth } from '../../shared/text/growth';
import { textOf } from '../chat/find';

/** Applies what is news. Returns the same object when nothing is. */
export function reduce(snapshot: Snapshot, envelopes: readonly Envelope[]): Snapshot {
  const draft = new Draft(snapshot);
  for (const envelope of envelopes) draft.apply(envelope);
  return draft.finish();
}

/** Puts a page of older items before those that are known. */
export function prepend(snapshot: Snapshot, older: readonly Item[]): Snapshot {
  const known = new Set(snapshot.items.map((item) => item.id));
  const fresh = older.filter((item) => !known.has(item.id));
  if (fresh.length === 0) return snapshot;
  return {
    ...snapshot,
    items: [...fresh, ...snapshot.items],
    items_before: Math.max(0, snapshot.items_before - fresh.length),
  };
}

/** So many turns are known at least: all that is in sight of who is at the end. */
const FEWEST_TURNS = 2;

/**
 * Without the oldest turns, where all rows have more than twice so many characters; those that stay have about so many.
 * What is still at work stays, and what came after it.
 */
export function letGo(snapshot: Snapshot, characters: number): Snapshot {
  const { items, items_before } = snapshot;
  const sizes = items.map((item) => textOf(item).length);
  if (sizes.reduce((all, size) => all + size, 0) <= 2 * characters) return snapshot;
  let room = characters;
  const over = sizes.findLastIndex((size) => (room -= size) < 0);
  const lastTurns = (items.at(-1)?.turn ?? 0) - FEWEST_TURNS;
  const begins = (at: number) => items[at]?.turn !== items[at - 1]?.turn;
  const stays = (item: Item, at: number) => item.turn > lastTurns || isAtWork(item) || (at > over && begins(at));
  const from = Math.max(0, items.findIndex(stays));
  return from === 0 ? snapshot : { ...snapshot, items: items.slice(from), items_before: items_before + from };
}

/**
 * What is told anew, behind the earlier rows that are known and are as they were. One that was at work may have come to
 * its end since: from the last of those on, rows are fetched again. A row that is told as it is known stays the same.
 */
export function join(known: Snapshot, told: Snapshot): Snapshot {
  const rows = new Map(known.items.map((item) => [item.id, item]));
  const items = told.items.map((item) => {
    const mine = rows.get(item.id);
    return mine && isEqual(mine, item) ? mine : item;
  });
  const first = told.items[0]?.id;
  const at = known.items.findIndex(({ id }) => id === first);
  const earlier = known.items.slice(0, Math.max(0, at));
  const kept = earlier.slice(earlier.findLastIndex(isAtWork) + 1);
  if (kept.length === 0 || at > told.items_before) return { ...told, items };
  return { ...told, items: [...kept, ...items], items_before: told.items_before - kept.length };
}

/** Whether a row will still change. */
function isAtWork({ body }: Item): boolean {
  if (body.kind === 'ai') return body.streaming;
  return body.kind === 'tool' && (body.state === 'proposed' || body.state === 'waiting' || body.state === 'running');
}

/** Whether two values of JSON are the same. */
function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const [mine, other] = [Object.entries(a), Object.entries(b)];
  return (
    mine.length === other.length && mine.every(([key, value]) => isEqual(value, (b as Record<string, unknown>)[key]))
  );
}

/** Puts what was missed onto what is known: of the rows `missed` has only those that are not as they were. */
export function resume(known: Snapshot, missed: Snapshot): Snapshot {
  const rows = new Map(missed.items.map((item) => [item.id, item]));
  const items = rows.size === 0 ? known.items : known.items.map((item) => rows.get(item.id) ?? item);
  for (const item of known.items) rows.delete(item.id);
  return { ...missed, items: rows.size === 0 ? items : [...items, ...rows.values()], items_before: known.items_before };
}

/** What is added to one text without a break: engines keep what a text was put together from for as long as it grows. */
interface Run {
  item: string;
  delta: Delta['delta'];
  pieces: string[];
}

/**
 * One batch in the making. Lists are copied at most once a batch, so that a thousand deltas cost one copy of the list
 * and one of the item they grow.
 */
class Draft {
  private next: Snapshot;
  private itemsOwned = false;
  /** Where the last item was found. */
  private at = -1;
  private grown = new Set<string>();
  private run: Run | null = null;

  constructor(private readonly base: Snapshot) {
    this.next = base;
  }

  finish(): Snapshot {
    this.endRun();
    return this.next;
  }

  apply({ seq, event }: Envelope): void {
    if (seq <= this.next.seq) return;
    this.own().seq = seq;
    if (event.type !== 'item_delta') return this.change(event);
    const { item, delta } = event;
    if (this.run?.item === item && this.run.delta === delta.delta) this.run.pieces.push(delta.text);
    else {
      this.endRun();
      this.run = { item, delta: delta.delta, pieces: [delta.text] };
    }
  }

  private endRun(): void {
    const { run } = this;
    this.run = null;
    if (run) this.grow(run.item, { delta: run.delta, text: run.pieces.join('') });
  }

  private change(event: Exclude<SessionEvent, { type: 'item_delta' }>): void {
    this.endRun();
    const next = this.own();
    switch (event.type) {
      case 'session_updated':
        next.session = event.session;
        break;
      case 'turn_started':
      case 'turn_ended':
        // What a turn does to the session's status comes with `session_updated`.
        break;
      case 'item_started':
      case 'item_updated':
      case 'item_completed':
        this.put(event.item);
        break;
      case 'item_removed':
        next.items = next.items.filter((item) => item.id !== event.item);
        this.itemsOwned = true;
        break;
      case 'todos_replaced':
        next.todos = event.todos;
        break;
      case 'todo_worked':
        next.evidence = upsert(next.evidence, event.evidence, (one) => one.todo);
        break;
      case 'approval_requested':
        // Asked again, it stands last. Calls of different agents may share an id.
        next.approvals = [...next.approvals.filter((one) => !isSame(one, event.approval)), event.approval];
        break;
      case 'approval_resolved':
        next.approvals = next.approvals.filter((one) => !isSame(one, event));
        break;
      case 'queue_replaced':
        next.queue = event.queue;
        break;
      case 'agent_updated':
        next.agents = upsert(next.agents, event.agent, (one) => one.session);
        break;
      case 'reset':
        // What the snapshot already has is not told again.
        this.next = { ...join(next, event.snapshot), seq: Math.max(next.seq, event.snapshot.seq) };
        this.itemsOwned = false;
        this.at = -1;
        this.grown.clear();
        break;
      case 'file_changed':
        next.changes = upsert(next.changes, event.change, (one) => one.path);
        break;
      default:
        event satisfies never;
    }
  }

  private own(): Snapshot {
    if (this.next === this.base) this.next = { ...this.base };
    return this.next;
  }

  private items(): Item[] {
    const next = this.own();
    if (!this.itemsOwned) {
      next.items = [...next.items];
      this.itemsOwned = true;
    }
    return next.items;
  }

  private find(items: readonly Item[], id: string): number {
    if (items[this.at]?.id === id) return this.at;
    this.at = items.findLastIndex((item) => item.id === id);
    return this.at;
  }

  private put(item: Item): void {
    const items = this.items();
    const at = this.find(items, item.id);
    if (at < 0) items.push(item);
    else items[at] = item;
    this.grown.delete(item.id);
  }

  private grow(id: string, delta: Delta): void {
    const items = this.items();
    const at = this.find(items, id);
    const item = items[at];
    if (!item) return;
    const mine = this.grown.has(id) ? item : { ...item, body: { ...item.body } };
    if (!extend(mine.body, delta)) return;
    if (delta.delta === 'text') noteGrowth(mine.body, item.body, delta.text);
    this.grown.add(id);
    items[at] = mine;
  }
}

/** Adds to a body that this batch owns; false where the delta does not fit it. */
function extend(body: ItemBody, delta: Delta): boolean {
  if (body.kind === 'ai' && delta.delta === 'text') body.text += delta.text;
  else if (body.kind === 'ai' && delta.delta === 'reasoning') body.reasoning += delta.text;
  else if (body.kind === 'tool' && delta.delta === 'output') body.output += delta.text;
  else return false;
  return true;
}

const isSame = (a: Approval, b: Pick<Approval, 'call_id' | 'session'>) =>
  a.call_id === b.call_id && a.session === b.session;

function upsert<T>(list: readonly T[], value: T, key: (value: T) => string): T[] {
  const at = list.findIndex((one) => key(one) === key(value));
  return at < 0 ? [...list, value] : list.with(at, value);
}
