import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Envelope, SessionEvent, Snapshot } from '../../ipc/bindings';
import { ai, approval, human, item, snapshot, summary, tool } from '../../ipc/recorded/builders';
import { join, letGo, prepend, reduce, resume } from './reduce';

/** What the Rust projection makes of the recorded journal. Tests run in the web project's folder. */
const FIXTURE = '../tests/fixtures/journal/projection.json';

interface Recorded {
  initial: Snapshot;
  envelopes: Envelope[];
  final: Snapshot;
}

const numbered = (events: SessionEvent[], from = 1): Envelope[] =>
  events.map((event, at) => ({ seq: from + at + 1, event }));

function small(): Recorded {
  const initial = snapshot(summary('s'), { items: [human('hi')] });
  const reply = item({ kind: 'ai', text: '', reasoning: '', streaming: true });
  const call = tool('execute', { command: 'ls' }, { state: 'waiting' });
  const ask = approval('execute', { command: 'ls' });
  const gone = tool('read_file', {});
  const envelopes = numbered([
    { type: 'turn_started', turn: 1, at: 0 },
    { type: 'item_started', item: reply },
    { type: 'item_delta', item: reply.id, delta: { delta: 'reasoning', text: 'hm' } },
    { type: 'item_delta', item: reply.id, delta: { delta: 'text', text: 'Hel' } },
    { type: 'item_delta', item: reply.id, delta: { delta: 'text', text: 'lo' } },
    { type: 'item_delta', item: reply.id, delta: { delta: 'output', text: 'not mine' } },
    { type: 'item_delta', item: 'nobody', delta: { delta: 'text', text: 'lost' } },
    { type: 'item_started', item: gone },
    { type: 'item_removed', item: gone.id },
    { type: 'item_started', item: call },
    { type: 'approval_requested', approval: ask },
    { type: 'queue_replaced', queue: [{ id: 'q', text: 'next', attachments: [] }] },
    { type: 'todos_replaced', todos: [{ id: 't', content: 'x', status: 'pending' }] },
    { type: 'approval_resolved', session: ask.session, call_id: ask.call_id, record: null },
    { type: 'item_delta', item: call.id, delta: { delta: 'output', text: 'a\n' } },
    {
      type: 'item_completed',
      item: { ...reply, body: { kind: 'ai', text: 'Hello!', reasoning: 'hm', streaming: false } },
    },
    { type: 'file_changed', change: { path: '/a', change: 'created', added: 1, removed: 0 } },
    { type: 'file_changed', change: { path: '/a', change: 'created', added: 2, removed: 0 } },
    { type: 'session_updated', session: summary('s', { title: 'Done' }) },
  ]);
  return { initial, envelopes, final: reduce(initial, envelopes) };
}

/** The law of the stream: wherever the snapshot was taken, the rest of the events lead to the same end. */
function holdsTheLaw({ initial, envelopes, final }: Recorded): void {
  expect(reduce(initial, envelopes)).toEqual(final);
  let at = initial;
  for (let k = 0; k <= envelopes.length; k++) {
    expect(reduce(at, envelopes.slice(k)), `from ${k}`).toEqual(final);
    expect(reduce(at, envelopes), `with all events again at ${k}`).toEqual(final);
    const next = envelopes[k];
    if (!next) break;
    const once = reduce(at, [next]);
    expect(reduce(once, [next]), `event ${k} twice`).toBe(once);
    at = once;
  }
  expect(at).toEqual(final);
}

describe('the stream’s law', () => {
  it('holds for a small transcript', () => {
    const recorded = small();
    expect(recorded.final.items.map(({ body }) => body.kind)).toEqual(['human', 'ai', 'tool']);
    expect(recorded.final).toMatchObject({ seq: 20, approvals: [], session: { title: 'Done' } });
    expect(recorded.final.changes).toEqual([{ path: '/a', change: 'created', added: 2, removed: 0 }]);
    holdsTheLaw(recorded);
  });

  it('holds for the recorded journal, event by event as in Rust', () => {
    holdsTheLaw(JSON.parse(readFileSync(FIXTURE, 'utf8')) as Recorded);
  });
});

describe('the reducer', () => {
  it('grows a reply by its deltas and lets its end have the last word', () => {
    const { initial, envelopes } = small();
    const texts = envelopes.map((_, at) => {
      const body = reduce(initial, envelopes.slice(0, at + 1)).items[1]?.body;
      return body?.kind === 'ai' ? body.text : undefined;
    });
    expect(texts.slice(1, 6)).toEqual(['', '', 'Hel', 'Hello', 'Hello']);
    expect(texts.at(-1)).toBe('Hello!');
  });

  it('leaves what it was given as it was', () => {
    const { initial, envelopes } = small();
    const before = structuredClone({ initial, envelopes });
    const middle = reduce(initial, envelopes.slice(0, 4));
    const kept = structuredClone(middle);
    reduce(middle, envelopes);
    expect({ initial, envelopes }).toEqual(before);
    expect(middle).toEqual(kept);
  });

  it('returns the same object when nothing is news', () => {
    const { final, envelopes } = small();
    expect(reduce(final, envelopes)).toBe(final);
    expect(reduce(final, [])).toBe(final);
  });

  it('takes twenty thousand deltas in one batch without copying the list for each', () => {
    const items = Array.from({ length: 10_000 }, (_, at) => ai(`row ${at}`));
    const live = item({ kind: 'ai', text: '', reasoning: '', streaming: true });
    const start = snapshot(summary('s'), { items: [...items, live] });
    const deltas = Array.from({ length: 20_000 }, (): SessionEvent => ({
      type: 'item_delta',
      item: live.id,
      delta: { delta: 'text', text: 'ab' },
    }));
    const end = reduce(start, numbered(deltas));
    expect(end.items.at(-1)?.body).toMatchObject({ text: 'ab'.repeat(20_000) });
    expect(end.items[0]).toBe(items[0]);
  });

  it('begins anew from a snapshot, and what follows in the same batch holds', () => {
    const live = item({ kind: 'ai', text: 'a', reasoning: '', streaming: true });
    const start = snapshot(summary('s'), { items: [human('one'), live] });
    const grow = (text: string): SessionEvent => ({
      type: 'item_delta',
      item: live.id,
      delta: { delta: 'text', text },
    });
    const past = snapshot(summary('s', { title: 'back' }), { seq: 1, items: [live] });
    const end = reduce(start, numbered([grow('b'), { type: 'reset', snapshot: past }, grow('c')]));
    expect([end.session.title, end.items.length, end.seq]).toEqual(['back', 1, start.seq + 3]);
    expect(end.items[0]?.body).toMatchObject({ text: 'ac' });
    expect(past.items[0]?.body).toMatchObject({ text: 'a' });
  });

  it('puts older rows before those it has, each once', () => {
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((text) => human(text)) as [Item, Item, Item, Item];
    const known = snapshot(summary('s'), { items: [c, d], items_before: 2 });
    const more = prepend(known, [b, c]);
    expect(more.items).toEqual([b, c, d]);
    expect(more.items_before).toBe(1);
    expect(prepend(more, [a]).items_before).toBe(0);
    expect(prepend(more, [b])).toBe(more);
  });

  it('lets go of the oldest turns where there is much of them, and fetches them again', () => {
    const said = (at: number, turn: number) => human(`${at}`.padEnd(100), undefined, [], turn);
    const rows = Array.from({ length: 30 }, (_, at) => said(at, Math.ceil((at + 1) / 2)));
    const known = snapshot(summary('s'), { items: rows, items_before: 5 });
    expect(letGo(known, 1_500)).toBe(known);
    const less = letGo(known, 1_000);
    expect([less.items, less.items_before]).toEqual([rows.slice(20), 25]);
    expect(letGo(known, 900).items, 'no turn is cut').toEqual(rows.slice(22));
    expect(letGo(known, 10).items, 'the last two stay, however long they are').toEqual(rows.slice(26));
    expect(prepend(less, rows.slice(0, 20))).toEqual(known);

    const long = snapshot(summary('s'), { items: Array.from({ length: 30 }, (_, at) => said(at, 7)) });
    expect(letGo(long, 10)).toBe(long);
    const running = { ...tool('task', {}, { state: 'running' }), turn: 3 };
    const working = snapshot(summary('s'), { items: [...rows.slice(0, 4), running, ...rows.slice(4)] });
    expect(letGo(working, 1_000).items, 'what is at work').toEqual([running, ...rows.slice(4)]);
  });

  it('puts what was missed onto what is known, and what is told anew behind what was fetched', () => {
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((text) => human(text)) as [Item, Item, Item, Item];
    const known = snapshot(summary('s'), { seq: 4, items: [a, b, c], items_before: 7 });
    const changed = { ...b, at: 99 };
    const missed = snapshot(summary('s', { title: 'new' }), { seq: 9, items: [changed, d] });
    expect(resume(known, missed)).toEqual({ ...missed, items: [a, changed, c, d], items_before: 7 });
    expect(resume(known, { ...missed, items: [] }).items).toBe(known.items);

    const told = snapshot(summary('s'), { seq: 9, items: [b, d], items_before: 8 });
    expect(join(known, told)).toEqual({ ...told, items: [a, b, d], items_before: 7 });
    const elsewhere = snapshot(summary('s'), { seq: 9, items: [d], items_before: 20 });
    expect(join(known, elsewhere)).toEqual(elsewhere);
  });

  it('leaves no row at work that came to its end while nobody looked', () => {
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((text) => human(text)) as [Item, Item, Item, Item];
    const rows = (told: Snapshot) => join(known, told).items.map(({ id }) => id);
    const running = tool('execute', { command: 'make' }, { state: 'running' });
    const known = snapshot(summary('s'), { seq: 4, items: [a, running, b, c], items_before: 7 });
    // It is over: else it would have been told of.
    const told = snapshot(summary('s'), { seq: 900, items: [c, d], items_before: 10 });
    expect([rows(told), join(known, told).items_before]).toEqual([[b.id, c.id, d.id], 9]);
    const done = { ...running, body: { ...running.body, state: 'done' } } as Item;
    expect(join(known, { ...told, items: [done, b, c, d], items_before: 8 }).items).toEqual([a, done, b, c, d]);
  });

  it('keeps each row that is told as it is known, so that nothing is drawn again', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((text) => human(text)) as [Item, Item, Item];
    const glimpse = snapshot(summary('s'), { seq: 0, items: [a, b, c], items_before: 900 });
    const changed = { ...b, at: 99 };
    const whole = snapshot(summary('s'), { seq: 9, items: structuredClone([a, changed, c]), items_before: 300 });
    const end = reduce(glimpse, [{ seq: 9, event: { type: 'reset', snapshot: whole } }]);
    expect([end.items[0] === a, end.items[1] === b, end.items[2] === c]).toEqual([true, false, true]);
    expect(end).toEqual(whole);
  });
});

type Item = Snapshot['items'][number];
