import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { draw, setUp } from '../../test/stage';
import HeadersForm from './HeadersForm.svelte';

it('tells why one more is not taken, and keeps what was written', async () => {
  const scene = await setUp('accounts');
  const attic = scene.workspace.providers.find(({ id }) => id === 'attic');
  if (!attic) throw new Error('no attic in this world');
  const headers = Array.from({ length: 20 }, (_, number) => `X-${number}`);
  const onAdded = vi.fn();
  draw(scene, HeadersForm, { provider: { ...attic, headers }, onAdded });
  const full = { code: 'invalid', message: '', problem: { problem: 'headers_full', most: 20 } };
  vi.spyOn(scene.client, 'setProviderHeader').mockRejectedValue(full);
  await userEvent.type(screen.getByLabelText('Name'), 'X-More');
  await userEvent.type(screen.getByLabelText('Value'), 'on');
  await userEvent.click(screen.getByRole('button', { name: 'Add header' }));
  expect((await screen.findByRole('alert')).textContent).toMatch(/at most 20 headers.*remove one first/);
  expect(screen.getByLabelText<HTMLInputElement>('Name').value).toBe('X-More');
  expect(screen.getAllByRole('listitem')).toHaveLength(20);
  expect(onAdded).not.toHaveBeenCalled();
});
