import { describe, expect, it, vi } from 'vitest';
import type { Envelope } from '../../ipc/bindings';
import type { UiClient } from '../../ipc/client';
import { human, snapshot, summary } from '../../ipc/recorded/builders';
import { Feeds, SessionFeed } from './feed.svelte';

const started = (seq: number, text: string): Envelope => ({ seq, event: { type: 'item_started', item: human(text) } });

function host(first = snapshot(summary('s'), { seq: 3, items: [human('old')], items_before: 1 })) {
  let tell: (events: Envelope[]) => void = () => undefined;
  let answer: () => void = () => undefined;
  const close = vi.fn();
  const subscribeSession = vi.fn((_id: string, listener: (events: Envelope[]) => void) => {
    tell = listener;
    return new Promise<{ first: typeof first; close: () => void }>((resolve) => {
      answer = () => resolve({ first, close });
    });
  });
  const loadItems = vi.fn(async () => [human('oldest')]);
  const client = { subscribeSession, loadItems } as unknown as UiClient;
  return { client, close, subscribeSession, tell: (events: Envelope[]) => tell(events), answer: () => answer() };
}

const texts = (feed: SessionFeed) =>
  feed.snapshot?.items.map(({ body }) => (body.kind === 'human' ? body.text : body.kind));
const settle = () => new Promise((resolve) => setTimeout(resolve, 40));

describe('a session’s feed', () => {
  it('keeps what arrives before the snapshot and drops what the snapshot has', async () => {
    const { client, tell, answer } = host();
    const feed = new SessionFeed(client, 's');
    tell([started(3, 'in the snapshot'), started(4, 'new')]);
    answer();
    await settle();
    expect(texts(feed)).toEqual(['old', 'new']);
  });

  it('says why it could not be opened, and can be opened again', async () => {
    const { client, subscribeSession, answer } = host();
    subscribeSession.mockRejectedValueOnce(new Error('locked'));
    const feed = new SessionFeed(client, 's');
    await settle();
    expect([feed.error === null, feed.snapshot]).toEqual([false, null]);
    void feed.open();
    expect(feed.error).toBeNull();
    answer();
    await settle();
    expect(texts(feed)).toEqual(['old']);
  });

  it('applies what comes in one frame at once', async () => {
    const { client, tell, answer } = host();
    const feed = new SessionFeed(client, 's');
    answer();
    await settle();
    const before = feed.snapshot;
    tell([started(4, 'a')]);
    tell([started(5, 'b')]);
    expect(feed.snapshot).toBe(before);
    await settle();
    expect(texts(feed)).toEqual(['old', 'a', 'b']);
  });

  it('fetches earlier rows until there are none', async () => {
    const { client, answer } = host();
    const feed = new SessionFeed(client, 's');
    answer();
    await settle();
    expect(await feed.loadEarlier()).toBe(true);
    expect(texts(feed)).toEqual(['oldest', 'old']);
    expect(await feed.loadEarlier()).toBe(false);
  });

  it('is shared, and closed when nobody holds it any more', async () => {
    const { client, close, answer, subscribeSession } = host();
    const feeds = new Feeds(client);
    const feed = feeds.acquire('s');
    expect(feeds.acquire('s')).toBe(feed);
    answer();
    await settle();
    feeds.release('s');
    expect(close).not.toHaveBeenCalled();
    feeds.release('s');
    expect(close).toHaveBeenCalledOnce();
    expect(feeds.acquire('s')).not.toBe(feed);
    expect(subscribeSession).toHaveBeenCalledTimes(2);
  });

  it('says why it could not be opened', async () => {
    const subscribeSession = () => Promise.reject({ code: 'not_found', message: 'There is no such session.' });
    const feed = new SessionFeed({ subscribeSession } as unknown as UiClient, 's');
    await settle();
    expect(feed.error).toMatchObject({ code: 'not_found', message: 'There is no such session.' });
  });
});
