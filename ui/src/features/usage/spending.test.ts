import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SessionUsage, UsageTotal } from '../../ipc/bindings';
import { agent, snapshot, summary, usage } from '../../ipc/recorded/builders';
import { en } from '../../shared/i18n/en';
import { Formats } from '../../shared/i18n/formats';
import { Spending, spendingMark } from './spending.svelte';
import { shortCostOf } from './total';

const paid = (cost: number, more: Partial<UsageTotal> = {}): UsageTotal => ({
  calls: 2,
  input_tokens: 10,
  output_tokens: 1,
  cache_read_tokens: 0,
  cost,
  unpriced: 0,
  ...more,
});

describe('what a session cost', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is asked for at once, and again at most once a second', async () => {
    let cost = 0;
    const sessionUsage = vi.fn((): Promise<SessionUsage> =>
      Promise.resolve({ total: paid((cost += 1)), models: [], agents: [], calls: [] }),
    );
    const spending = new Spending({ sessionUsage });
    spending.follow('a');
    await vi.advanceTimersByTimeAsync(0);
    expect(spending.total?.cost).toBe(1);
    for (let at = 0; at < 10; at += 1) {
      spending.follow('a');
      await vi.advanceTimersByTimeAsync(50);
    }
    expect(sessionUsage).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([spending.total?.cost, sessionUsage.mock.calls.length]).toEqual([2, 2]);
  });

  it('is of the session at hand, however late the answer about another comes', async () => {
    const answers = new Map<string, (usage: SessionUsage) => void>();
    const spending = new Spending({
      sessionUsage: (id) => new Promise<SessionUsage>((answer) => void answers.set(id, answer)),
    });
    spending.follow('a');
    await vi.advanceTimersByTimeAsync(0);
    spending.follow('b');
    expect(spending.total).toBeNull();
    await vi.advanceTimersByTimeAsync(0);
    answers.get('b')?.({ total: paid(2), models: [], agents: [], calls: [] });
    answers.get('a')?.({ total: paid(1), models: [], agents: [], calls: [] });
    await vi.advanceTimersByTimeAsync(0);
    expect(spending.total?.cost).toBe(2);
  });

  it('is not that of an earlier answer that comes late', async () => {
    const answers: ((usage: SessionUsage) => void)[] = [];
    const spending = new Spending({ sessionUsage: () => new Promise<SessionUsage>((answer) => answers.push(answer)) });
    spending.follow('a');
    await vi.advanceTimersByTimeAsync(0);
    spending.follow('a');
    await vi.advanceTimersByTimeAsync(1_000);
    answers[1]?.({ total: paid(2), models: [], agents: [], calls: [] });
    answers[0]?.({ total: paid(1), models: [], agents: [], calls: [] });
    await vi.advanceTimersByTimeAsync(0);
    expect(spending.total?.cost).toBe(2);
  });

  it('changes with what a subagent used and with the name that was paid for', () => {
    const shown = (title: string, cost: number) =>
      spendingMark(
        snapshot(summary('s', { title }), { agents: [agent('s'), agent('t', { usage: usage(cost, null) })] }),
      );
    expect(new Set([shown('a', 0.1), shown('b', 0.1), shown('a', 0.2)]).size).toBe(3);
    expect(shown('a', 0.1)).toBe(shown('a', 0.1));
    const failed = snapshot(summary('s', { title: 'a', status: 'failed' }));
    expect(spendingMark(failed)).not.toBe(spendingMark(snapshot(summary('s', { title: 'a', status: 'running' }))));
  });

  it('says where a part of it is not known', () => {
    const f = new Formats('en');
    expect(shortCostOf(en, f, paid(0.5))).toBe('$0.50');
    expect(shortCostOf(en, f, paid(0.5, { unpriced: 1 }))).toBe('$0.50 +');
    expect(shortCostOf(en, f, paid(0, { unpriced: 2 }))).toBe('price unknown');
  });
});
