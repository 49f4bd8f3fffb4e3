import { expect, it, vi } from 'vitest';
import { setUp } from '../../test/stage';
import { Following } from './following.svelte';

it('tells of its folders once as soon as it follows them: something may have come before', async () => {
  const { client } = await setUp();
  let stands: () => void = () => undefined;
  const close = vi.fn();
  vi.spyOn(client, 'watchFolders').mockReturnValue(
    new Promise((resolve) => (stands = () => resolve({ first: null, close }))),
  );
  const touched = vi.fn();
  const end = new Following(client, () => '').follow('s-refresh', ['/', '/src'], touched);
  expect(touched).not.toHaveBeenCalled();
  stands();
  await vi.waitFor(() => expect(touched.mock.calls).toEqual([[['/', '/src']]]));
  end();
  await vi.waitFor(() => expect(close).toHaveBeenCalledOnce());
});

it('tells of nothing where nobody looks any more', async () => {
  const { client } = await setUp();
  const close = vi.fn();
  vi.spyOn(client, 'watchFolders').mockResolvedValue({ first: null, close });
  const touched = vi.fn();
  new Following(client, () => '').follow('s-refresh', ['/'], touched)();
  await vi.waitFor(() => expect(close).toHaveBeenCalledOnce());
  expect(touched).not.toHaveBeenCalled();
});

/** What is asked to be watched, in turn, each to be answered. */
async function watching(place = () => '') {
  const { client } = await setUp();
  const asked: { folders: readonly string[]; close: () => void; stands: () => Promise<void> }[] = [];
  vi.spyOn(client, 'watchFolders').mockImplementation((_session, folders) => {
    const close = vi.fn();
    return new Promise((resolve) => {
      const stands = () => Promise.resolve(resolve({ first: null, close })).then(() => undefined);
      asked.push({ folders, close, stands });
    });
  });
  return { following: new Following(client, place), asked };
}

it('looks again only at the folder that was opened, and follows the others without a gap', async () => {
  const { following, asked } = await watching();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const touched = vi.fn();
  const first = following.follow('s-refresh', ['/', '/src'], touched);
  await asked[0]?.stands();
  touched.mockClear();
  first();
  const second = following.follow('s-refresh', ['/', '/src', '/docs'], touched);
  await Promise.resolve();
  expect(asked[0]?.close).not.toHaveBeenCalled();
  // Another is opened before the watch stands.
  second();
  const third = following.follow('s-refresh', ['/', '/src', '/docs', '/tests'], touched);
  await asked[1]?.stands();
  expect([asked[1]?.close, touched].map((one) => vi.mocked(one as () => void).mock.calls.length)).toEqual([1, 0]);
  await asked[2]?.stands();
  expect(touched.mock.calls).toEqual([[['/docs', '/tests']]]);
  expect(asked[0]?.close).not.toHaveBeenCalled();
  // What the one before had gathered is told by then.
  vi.advanceTimersByTime(2_500);
  expect(asked[0]?.close).toHaveBeenCalledOnce();
  third();
  const fewer = following.follow('s-refresh', ['/'], touched);
  await asked[3]?.stands();
  expect(touched).toHaveBeenCalledOnce();
  fewer();
  await Promise.resolve();
  expect(asked[3]?.close).toHaveBeenCalledOnce();
  vi.useRealTimers();
});

it('looks at all of them where they are followed for another', async () => {
  const { following, asked } = await watching();
  following.follow('s-refresh', ['/', '/src'], vi.fn());
  await asked[0]?.stands();
  const end = following.follow('s-refresh', ['/'], vi.fn());
  end();
  const other = vi.fn();
  following.follow('s-other', ['/', '/src'], other);
  await asked[2]?.stands();
  expect(other.mock.calls).toEqual([[['/', '/src']]]);
});

it('looks at all of them where they are in another place by now', async () => {
  let place = ':/old';
  const { following, asked } = await watching(() => place);
  const touched = vi.fn();
  const end = following.follow('s-refresh', ['/', '/src'], touched);
  await asked[0]?.stands();
  touched.mockClear();
  end();
  place = ':/new';
  following.follow('s-refresh', ['/', '/src'], touched);
  expect(asked[0]?.close).toHaveBeenCalledOnce();
  await asked[1]?.stands();
  expect(touched.mock.calls).toEqual([[['/', '/src']]]);
});
