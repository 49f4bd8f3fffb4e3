import { expect, it, vi } from 'vitest';
import type { LedgerEntry, TimelinePage, TimelineQuery } from '../../ipc/bindings';
import type { UiClient } from '../../ipc/client';
import { ledgerOf } from './pages.svelte';

const call = (at: number, state: LedgerEntry['state'] = 'done'): LedgerEntry => ({
  row: `r${at}`,
  session: 's',
  call_id: `c${at}`,
  agent: ['main'],
  tool: 'execute',
  proposed: {},
  ran: null,
  decision: null,
  state,
  files: [],
  proposed_at: at,
  started_at: null,
  ended_at: null,
  cost: null,
});

function host(count: number) {
  const held = { calls: Array.from({ length: count }, (_, at) => call(at)), rewinds: 0 };
  const timeline = vi.fn(async ({ from, before, limit }: TimelineQuery): Promise<TimelinePage> => {
    const total = held.calls.length;
    const at = (row: string | null) => (row === null ? -1 : held.calls.findIndex((one) => one.row === row));
    const last = at(from) < 0 ? (at(before) < 0 ? total : at(before)) : Math.min(at(from) + limit, total);
    const first = at(from) < 0 ? Math.max(0, last - limit) : at(from);
    const ledger = held.calls.slice(first, last);
    return { from: first, total, checkpoints: [], ledger, can_undo_rewind: held.rewinds > 0, rewinds: held.rewinds };
  });
  const asked = () => timeline.mock.calls.map(([{ from, before }]) => [from, before]);
  return { held, asked, pages: ledgerOf({ timeline } as unknown as UiClient, 's') };
}

const ids = (entries: readonly LedgerEntry[]) => entries.map(({ proposed_at }) => proposed_at);

it('has the end of a long list, more on demand, and what comes later without what is known', async () => {
  const { held, asked, pages } = host(100_000);
  await pages.follow();
  expect([pages.entries.length, pages.before, pages.entries[0]?.proposed_at]).toEqual([100, 99_900, 99_900]);
  await pages.earlier();
  expect([pages.entries.length, pages.before, pages.entries[0]?.proposed_at]).toEqual([200, 99_800, 99_800]);
  held.calls.push(call(100_000), call(100_001, 'waiting'), call(100_002));
  await pages.follow();
  expect([pages.entries.length, pages.entries.at(-1)?.proposed_at]).toEqual([203, 100_002]);
  // The one that waits may have changed, and nothing before it.
  held.calls[100_001] = call(100_001, 'rejected');
  await pages.follow();
  expect([pages.entries.length, pages.entries.at(-2)?.state]).toEqual([203, 'rejected']);
  await pages.follow();
  expect(asked()).toEqual([
    [null, null],
    [null, 'r99900'],
    ['r99999', null],
    ['r100001', null],
    ['r100002', null],
  ]);
});

it('reads more than a page of news to its end, and begins anew where the session was taken back', async () => {
  const { held, pages } = host(5);
  await pages.follow();
  held.calls.push(...Array.from({ length: 250 }, (_, at) => call(5 + at)));
  await pages.follow();
  expect(ids(pages.entries)).toEqual(Array.from({ length: 255 }, (_, at) => at));
  held.calls.length = 3;
  held.rewinds = 1;
  await pages.follow();
  expect([ids(pages.entries), pages.before, pages.canUndoRewind]).toEqual([[0, 1, 2], 0, true]);
});

it('has each row once where agents beside each other called before what is known', async () => {
  const { held, pages } = host(250);
  await pages.follow();
  await pages.earlier();
  const insert = (at: number, before: number) =>
    held.calls.splice(
      held.calls.findIndex(({ proposed_at }) => proposed_at === before),
      0,
      call(at),
    );
  // Among the last; further up than a page; before all that is known.
  insert(1_000, 249);
  held.calls.push(call(250));
  await pages.follow();
  expect(ids(pages.entries)).toEqual(ids(held.calls).slice(50));
  insert(1_001, 120);
  insert(1_002, 10);
  await pages.follow();
  expect([ids(pages.entries), pages.before]).toEqual([ids(held.calls).slice(51), 51]);
  insert(1_003, 50);
  insert(1_004, 20);
  await pages.earlier();
  expect([ids(pages.entries), pages.before]).toEqual([ids(held.calls), 0]);
});

it('says why it is not there, and is there when it is asked again', async () => {
  const { pages } = host(2);
  const refused = { timeline: () => Promise.reject(new Error('locked')) } as unknown as UiClient;
  const none = ledgerOf(refused, 's');
  await none.follow();
  expect([none.error === null, none.isKnown]).toEqual([false, false]);
  await Promise.all([pages.follow(), pages.follow(), pages.earlier()]);
  expect([ids(pages.entries), pages.error]).toEqual([[0, 1], null]);
});
