import { expect, it, vi } from 'vitest';
import type { LedgerEntry, TimelinePage, TimelineQuery } from '../../ipc/bindings';
import type { UiClient } from '../../ipc/client';
import { ledgerOf } from './pages.svelte';

const call = (at: number, state: LedgerEntry['state'] = 'done'): LedgerEntry => ({
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
  ended_at: null,
  cost: null,
});

function host(count: number) {
  const held = { calls: Array.from({ length: count }, (_, at) => call(at)), rewinds: 0 };
  const timeline = vi.fn(async ({ from, before, limit }: TimelineQuery): Promise<TimelinePage> => {
    const total = held.calls.length;
    const last = from === null ? Math.min(before ?? total, total) : Math.min(from + limit, total);
    const first = from === null ? Math.max(0, last - limit) : Math.min(from, total);
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
    [null, 99_900],
    [100_000, null],
    [100_001, null],
    [100_003, null],
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

it('says why it is not there, and is there when it is asked again', async () => {
  const { pages } = host(2);
  const refused = { timeline: () => Promise.reject(new Error('locked')) } as unknown as UiClient;
  const none = ledgerOf(refused, 's');
  await none.follow();
  expect([none.error === null, none.isKnown]).toEqual([false, false]);
  await Promise.all([pages.follow(), pages.follow(), pages.earlier()]);
  expect([ids(pages.entries), pages.error]).toEqual([[0, 1], null]);
});
