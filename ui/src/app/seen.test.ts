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
});
