import { tick } from 'svelte';
import { SvelteMap } from 'svelte/reactivity';
import { expect, it, vi } from 'vitest';
import type { Todo } from '../ipc/bindings';
import { snapshot, summary } from '../ipc/recorded/builders';
import { draw, setUp } from '../test/stage';
import Inspector from './Inspector.svelte';

it('makes no tab anew while a reply streams, and tells the words of one that changed', async () => {
  const scene = await setUp();
  let now = snapshot(summary('s'), { seq: 1 });
  const { redraw, getByRole } = draw(scene, Inspector, { snapshot: now });
  await tick();
  const made = vi.spyOn(SvelteMap.prototype, 'set');
  for (let seq = 2; seq < 5; seq++) {
    now = { ...now, seq };
    await redraw({ snapshot: now });
  }
  expect(made).not.toHaveBeenCalled();
  const todos = (['completed', 'pending'] as const).map((status): Todo => ({ id: status, content: 'Look', status }));
  await redraw({ snapshot: { ...now, todos } });
  expect(getByRole('tab', { name: /Plan/ }).textContent).toContain('1/2');
});
