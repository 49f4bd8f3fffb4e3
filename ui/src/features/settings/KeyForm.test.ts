import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { links } from '../../shared/links.svelte';
import { draw, setUp } from '../../test/stage';
import KeyForm from './KeyForm.svelte';

it('leads to where the vendor makes keys, as long as there is none', async () => {
  const scene = await setUp();
  const provider = scene.workspace.providers.find(({ id }) => id === 'openai');
  if (!provider) throw new Error('no OpenAI in this world');
  const { redraw } = draw(scene, KeyForm, { provider });
  await userEvent.click(screen.getByRole('button', { name: 'platform.openai.com' }));
  expect(links.asked?.url).toBe(provider.key_page);
  await redraw({ provider: { ...provider, key: { source: 'keyring' } } });
  expect(screen.queryByRole('button', { name: 'platform.openai.com' })).toBeNull();
});
