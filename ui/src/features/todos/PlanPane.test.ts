import { fireEvent, screen, waitFor } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import userEvent from '@testing-library/user-event';
import { todoKey } from '../../app/unsent.svelte';
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

it('has again after a restart what a todo was being called, and the line that was being added, until they are sent', async () => {
  const begun = await setUp();
  const session = begun.workspace.sessionId ?? '';
  const snapshot = begun.host.snapshot(session);
  const [todo] = snapshot.todos;
  if (!todo) throw new Error('there is no plan');
  begun.workspace.unsent.put(todoKey(session, todo.id), 'said');
  const first = draw(begun, PlanPane, { snapshot });
  const words = screen.getByRole('textbox', { name: 'Text of the to-do' });
  await fireEvent.input(words, { target: { value: 'said better' } });
  await fireEvent.input(screen.getByRole('textbox', { name: 'Add a to-do…' }), { target: { value: 'one more' } });
  // The page goes without a word to the field in it.
  window.dispatchEvent(new Event('pagehide'));
  const stored = localStorage.getItem('bosun.unsent') ?? '';
  first.unmount();
  localStorage.setItem('bosun.unsent', stored);

  const scene = await setUp();
  const drawn = draw(scene, PlanPane, { snapshot: scene.host.snapshot(session) });
  scene.host.listen(session, () => void drawn.redraw({ snapshot: scene.host.snapshot(session) }));
  const back = screen.getByRole('textbox', { name: 'Text of the to-do' });
  expect([back, document.activeElement === back]).toMatchObject([{ value: 'said better' }, false]);
  back.focus();
  await userEvent.keyboard('{Enter}');
  const line = screen.getByRole('textbox', { name: 'Add a to-do…' });
  expect(line).toHaveProperty('value', 'one more');
  await userEvent.type(line, '{Enter}');
  await waitFor(() => {
    const lines = scene.host.snapshot(session).todos.map(({ content }) => content);
    expect([lines.includes('said better'), lines.includes('one more')]).toEqual([true, true]);
  });
  expect([screen.queryByRole('textbox', { name: 'Text of the to-do' }), line]).toMatchObject([null, { value: '' }]);
  expect(localStorage.getItem('bosun.unsent')).toBe('{}');
});
