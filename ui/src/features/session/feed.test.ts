import { describe, expect, it, vi } from 'vitest';
import type { Envelope, Opening } from '../../ipc/bindings';
import type { UiClient } from '../../ipc/client';
import { human, snapshot, summary } from '../../ipc/recorded/builders';
import { Feeds, SessionFeed } from './feed.svelte';

const started = (seq: number, text: string): Envelope => ({ seq, event: { type: 'item_started', item: human(text) } });

function host(first = snapshot(summary('s'), { seq: 3, items: [human('old')], items_before: 1 })) {
  let tell: (events: Envelope[]) => void = () => undefined;
  let answer: (opening?: Opening) => void = () => undefined;
  const close = vi.fn();
  const subscribeSession = vi.fn((_id: string, _known: number | null, listener: (events: Envelope[]) => void) => {
    tell = listener;
    return new Promise<{ first: Opening; close: () => void }>((resolve) => {
      answer = (opening = { snapshot: first, since: null }) => resolve({ first: opening, close });
    });
  });
  const loadItems = vi.fn(async () => [human('oldest')]);
  const client = { subscribeSession, loadItems } as unknown as UiClient;
  return {
    client,
    close,
    subscribeSession,
    loadItems,
    tell: (events: Envelope[]) => tell(events),
    answer: (opening?: Opening) => answer(opening),
  };
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
    // Its sentence and its button stay until it is known whether it still is so.
    expect([feed.error === null, feed.isOpening]).toEqual([false, true]);
    answer();
    await settle();
    expect([feed.error, feed.isOpening, texts(feed)]).toEqual([null, false, ['old']]);
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
    const { client, answer, loadItems } = host();
    const feed = new SessionFeed(client, 's');
    answer();
    await settle();
    // Whoever asks while a page is on its way waits for it.
    expect(await Promise.all([feed.loadEarlier(), feed.loadEarlier(500)])).toEqual([true, true]);
    expect(loadItems).toHaveBeenCalledOnce();
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

  it('is kept where it was left, is told nothing meanwhile, and goes on from there', async () => {
    const { client, close, answer, tell, subscribeSession } = host();
    const feeds = new Feeds(client);
    const feed = feeds.acquire('s');
    answer();
    await settle();
    await feed.loadEarlier();
    tell([started(4, 'last word')]);
    feed.place = { lastId: 'x', size: 300, key: 'x', top: -12 };
    feeds.release('s', 'kept');
    expect(close).toHaveBeenCalledOnce();
    expect(texts(feed)).toEqual(['oldest', 'old', 'last word']);
    tell([started(5, 'unheard')]);
    await settle();
    expect(feeds.peek('s')).toBe(feed);
    expect(subscribeSession).toHaveBeenCalledOnce();

    expect(feeds.acquire('s')).toBe(feed);
    expect([texts(feed), feed.place?.top]).toEqual([['oldest', 'old', 'last word'], -12]);
    expect(subscribeSession.mock.calls.at(-1)?.[1]).toBe(4);
    // What comes before the answer waits for what was missed.
    tell([started(7, 'after')]);
    await settle();
    expect(texts(feed)).toEqual(['oldest', 'old', 'last word']);
    answer({ snapshot: snapshot(summary('s'), { seq: 6, items: [human('missed')] }), since: 4 });
    await settle();
    expect(texts(feed)).toEqual(['oldest', 'old', 'last word', 'missed', 'after']);
    expect([feed.lives, feed.snapshot?.items_before, feed.place?.top]).toEqual([0, 0, -12]);
  });

  it('begins at its end where it was told anew, and is left before it was answered', async () => {
    const { client, close, answer } = host();
    const feeds = new Feeds(client);
    const feed = feeds.acquire('s');
    answer();
    await settle();
    feed.place = { lastId: 'x', size: 300, key: 'x', top: -12 };
    feeds.release('s', 'kept');
    feeds.acquire('s');
    feeds.release('s', 'kept');
    answer({ snapshot: snapshot(summary('s'), { seq: 9, items: [human('too late')] }), since: null });
    await settle();
    expect([texts(feed), close.mock.calls.length]).toEqual([['old'], 2]);
    feeds.acquire('s');
    answer({ snapshot: snapshot(summary('s'), { seq: 9, items: [human('another')] }), since: null });
    await settle();
    expect([texts(feed), feed.lives, feed.place]).toEqual([['another'], 1, null]);
  });

  it('is kept among the last eight, as long as they are not large together and the session is there', async () => {
    const open = async (feeds: Feeds, text: string, ids: string[], answer: () => void) => {
      for (const id of ids) {
        const feed = feeds.acquire(id);
        answer();
        await settle();
        if (feed.snapshot) feed.snapshot = { ...feed.snapshot, items: [human(text)] };
        feeds.release(id, 'kept');
      }
    };
    const isKept = (feeds: Feeds, id: string) => feeds.peek(id).snapshot !== null;
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
    const { client, answer } = host();
    const feeds = new Feeds(client);
    await open(feeds, 'short', ids, answer);
    const oldest = feeds.peek('a');
    expect(feeds.acquire('a'), 'the one that is gone to').toBe(oldest);
    answer();
    feeds.release('a', 'kept');
    feeds.acquire('next');
    feeds.keepOnly(ids.filter((id) => id !== 'c').map((id) => summary(id)));
    expect(ids.filter((id) => isKept(feeds, id))).toEqual(['a', 'd', 'e', 'f', 'g', 'h', 'i']);

    const large = new Feeds(client);
    await open(large, 'x'.repeat(7 * 1024 * 1024), ['a', 'b', 'c'], answer);
    large.acquire('next');
    expect(['a', 'b', 'c'].filter((id) => isKept(large, id))).toEqual(['b', 'c']);
    await open(large, 'x'.repeat(17 * 1024 * 1024), ['d'], answer);
    expect(['b', 'c', 'd'].filter((id) => isKept(large, id))).toEqual(['b', 'c']);
  });

  it('says why it could not be opened', async () => {
    const subscribeSession = () => Promise.reject({ code: 'not_found', message: 'There is no such session.' });
    const feed = new SessionFeed({ subscribeSession } as unknown as UiClient, 's');
    await settle();
    expect(feed.error).toMatchObject({ code: 'not_found', message: 'There is no such session.' });
  });
});
