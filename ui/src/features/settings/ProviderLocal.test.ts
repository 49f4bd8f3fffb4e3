import { screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import { draw, setUp } from '../../test/stage';
import ProviderLocal from './ProviderLocal.svelte';

it('says that requests stay here of servers alone that said that they run their models themselves', async () => {
  const scene = await setUp();
  const [ollama, , unknown] = scene.host.world.local ?? [];
  if (!ollama || !unknown) throw new Error('too few servers in this world');
  const own = { ...unknown, label: 'localhost:8000', base_url: 'http://localhost:8000/v1', provider: 'ollama' };
  const plain = ollama.models.filter(({ name }) => !name.endsWith('cloud'));
  scene.host.world.local = [{ ...ollama, models: plain }, unknown, own];
  draw(scene, ProviderLocal, {});
  await screen.findByText('Ollama');
  const said = [...document.querySelectorAll('article')].map((article) => [
    article.querySelector('b')?.textContent,
    article.querySelector('.badge')?.textContent,
  ]);
  expect(said).toEqual([
    ['Ollama', 'stays on this machine'],
    ['localhost:5000', 'may hand requests on'],
    ['localhost:8000', 'may hand requests on'],
  ]);
});
