import { fireEvent, screen, waitFor } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import { draw, setUp } from '../../test/stage';
import PlanPane from './PlanPane.svelte';

it('moves the todo that has the keys with Alt and an arrow, as often as is wished, and leaves it the keys', async () => {
  const scene = await setUp();
  const { workspace, host } = scene;
  const session = workspace.sessionId ?? '';
  const drawn = draw(scene, PlanPane, { snapshot: host.snapshot(session) });
  host.listen(session, () => void drawn.redraw({ snapshot: host.snapshot(session) }));
  const pending = () => host.snapshot(session).todos.filter(({ status }) => status === 'pending');
  const order = () => pending().map(({ content }) => content);
  const [first, ...others] = order();
  if (first === undefined || others.length < 2) throw new Error('there is nothing to move');
  const card = screen.getByRole('button', { name: first });
  card.focus();
  const press = async (key: string, wanted: string[]) => {
    await fireEvent.keyDown(card, { key, altKey: true });
    await waitFor(() => expect(order()).toEqual(wanted));
    await waitFor(() => expect(document.activeElement).toBe(card));
  };
  const [second, ...rest] = others as [string, ...string[]];
  await press('ArrowDown', [second, first, ...rest]);
  await press('ArrowDown', [second, rest[0] ?? '', first, ...rest.slice(1)]);
  await press('ArrowUp', [second, first, ...rest]);
  await press('ArrowUp', [first, second, ...rest]);
  const made = () => host.calls.filter(({ name }) => name === 'changePlan').length;
  expect(made()).toBe(4);
  // At the end of its lane there is nowhere to go, and without Alt an arrow is an arrow.
  await fireEvent.keyDown(card, { key: 'ArrowUp', altKey: true });
  await fireEvent.keyDown(card, { key: 'ArrowDown' });
  await fireEvent.keyDown(card, { key: 'ArrowDown', altKey: true, shiftKey: true });
  expect(made()).toBe(4);
});
