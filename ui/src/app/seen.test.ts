import { describe, expect, it } from 'vitest';
import { ago, summary } from '../ipc/recorded/builders';
import { Seen } from './seen.svelte';

describe('what was seen', () => {
  const before = summary('s', { updated_at: ago(9) });
  const after = summary('s', { updated_at: ago(1) });

  it('counts what was there at first, and marks what came to an end later until it is looked at', () => {
    const seen = new Seen();
    expect(seen.isUnread(before)).toBe(false);
    seen.learn([before]);
    expect([seen.isUnread(before), seen.isUnread({ ...after, status: 'running' }), seen.isUnread(after)]).toEqual([
      false,
      false,
      true,
    ]);
    seen.look(after);
    expect(seen.isUnread(after)).toBe(false);
  });

  it('is remembered, and what cannot be read is nothing', () => {
    new Seen().learn([before]);
    expect(new Seen().isUnread(after)).toBe(true);
    localStorage.setItem('bosun.seen', '["nonsense"');
    expect(new Seen().isUnread(after)).toBe(false);
  });

  it('keeps what is unread of 20,000 sessions, and no more marks than are worth it', () => {
    const all = Array.from({ length: 20_000 }, (_, nth) =>
      summary(`s-${nth}`, { created_at: ago(2 * nth + 60), updated_at: ago(2 * nth + 50) }),
    );
    const unread = () => all.filter((one) => seen.isUnread(one)).map(({ id }) => id);
    const change = (id: string, minutes: number) => {
      const at = all.findIndex((one) => one.id === id);
      all[at] = { ...(all[at] ?? summary(id)), updated_at: ago(minutes) };
      seen.learn(all);
    };
    let seen = new Seen();
    seen.learn(all);
    expect(unread()).toEqual([]);
    const kept = localStorage.getItem('bosun.seen');
    seen.learn([...all]);
    expect(localStorage.getItem('bosun.seen')).toBe(kept);
    // One had a mark of its own, the other is older than all of them.
    change('s-100', 40);
    change('s-15000', 39);
    expect(unread()).toEqual(['s-100', 's-15000']);
    for (let nth = 1000; nth < 1600; nth++) {
      const looked = summary(`s-${nth}`, { created_at: ago(9000), updated_at: ago(30 - nth / 1000) });
      all[nth] = looked;
      seen.look(looked);
    }
    seen = new Seen();
    seen.learn(all);
    expect(unread()).toEqual(['s-100', 's-15000']);
    expect(Object.keys(JSON.parse(localStorage.getItem('bosun.seen') ?? '{}') as object).length).toBeLessThan(502);
    // A new one was there before anybody could look.
    all.push(summary('new', { created_at: ago(1), updated_at: ago(0) }));
    seen.learn(all);
    expect(unread()).toEqual(['s-100', 's-15000']);
  });
});
