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
  expect(close).toHaveBeenCalledOnce();
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
