import { fireEvent, screen, waitFor } from '@testing-library/svelte';
import { afterEach, expect, it, vi } from 'vitest';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import type { Todo } from '../../ipc/bindings';
import { todoKey } from '../../app/unsent.svelte';
import { draw, setUp } from '../../test/stage';
import PlanPane from './PlanPane.svelte';

const wordsField = () => screen.queryByRole<HTMLInputElement>('textbox', { name: 'Text of the to-do' });

afterEach(() => void vi.restoreAllMocks());

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
  begun.workspace.unsent.put(todoKey(session, todo.id), { was: todo.content, words: 'said' });
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
  await waitFor(() => expect([wordsField(), line]).toMatchObject([null, { value: '' }]));
  await waitFor(() => expect(localStorage.getItem('bosun.unsent')).toBe('{}'));
});

/** A session and the first line of its plan. */
async function planned() {
  const scene = await setUp();
  const { workspace, host, client } = scene;
  const session = workspace.sessionId ?? '';
  const snapshot = host.snapshot(session);
  const [todo, ...others] = snapshot.todos;
  if (!todo) throw new Error('there is no plan');
  return { scene, workspace, client, session, snapshot, todo, others };
}

const line = () => screen.getByRole<HTMLInputElement>('textbox', { name: 'Add a to-do…' });

it('shows other words only at the todo that they were written for, and never at one that has its place or its id', async () => {
  const scene = await setUp();
  const { workspace, host } = scene;
  const session = workspace.sessionId ?? '';
  const snapshot = host.snapshot(session);
  const [todo, ...others] = snapshot.todos;
  if (!todo) throw new Error('there is no plan');
  workspace.unsent.put(todoKey(session, todo.id), { was: todo.content, words: 'said better' });
  const { redraw } = draw(scene, PlanPane, { snapshot });
  const field = wordsField();
  expect(field?.value).toBe('said better');
  field?.focus();
  // Another session has the same todo by id and by text.
  await redraw({ snapshot: { ...snapshot, session: { ...snapshot.session, id: 's-other' } } });
  expect([wordsField(), line().value, document.activeElement === line()]).toEqual([null, '', false]);
  await redraw({ snapshot });
  expect(wordsField()?.value).toBe('said better');
  // The agent put another in its place.
  await redraw({ snapshot: { ...snapshot, todos: [{ ...todo, content: 'Another' }, ...others] } });
  expect(wordsField()).toBeNull();
  expect([field?.isConnected, host.calls.some(({ name }) => name === 'changePlan')]).toEqual([false, false]);
});

it('leaves the keys to a field that goes to another lane with its todo', async () => {
  const scene = await setUp();
  const { workspace, host } = scene;
  const snapshot = host.snapshot(workspace.sessionId ?? '');
  const todo = snapshot.todos.find(({ status }) => status === 'pending');
  if (!todo) throw new Error('nothing is pending');
  workspace.unsent.put(todoKey(snapshot.session.id, todo.id), { was: todo.content, words: 'said better' });
  const { redraw } = draw(scene, PlanPane, { snapshot });
  const before = wordsField();
  before?.focus();
  before?.setSelectionRange(4, 4);
  const at = (one: Todo) => (one === todo ? { ...todo, status: 'in_progress' as const } : one);
  await redraw({ snapshot: { ...snapshot, todos: snapshot.todos.map(at) } });
  const field = wordsField();
  expect([field?.isConnected, field === before, document.activeElement === field]).toEqual([true, false, true]);
  await userEvent.keyboard(' it');
  expect([field?.value, line().value]).toEqual(['said it better', '']);
});

it('has the words in the line that is added, and the keys with them, when the agent rewords the todo meanwhile', async () => {
  const scene = await setUp();
  const { workspace, host } = scene;
  const session = workspace.sessionId ?? '';
  const snapshot = host.snapshot(session);
  const [todo, second, ...others] = snapshot.todos;
  if (!todo || !second) throw new Error('there is no plan');
  const write = (of: Todo, words: string) => workspace.unsent.put(todoKey(session, of.id), { was: of.content, words });
  write(todo, 'said better');
  // Of what was only opened nothing is lost.
  write(second, second.content);
  const { redraw } = draw(scene, PlanPane, { snapshot });
  screen.getByDisplayValue('said better').focus();
  await userEvent.keyboard(' than');
  await redraw({ snapshot: { ...snapshot, todos: [{ ...todo, content: 'Another' }, second, ...others] } });
  await waitFor(() => expect(line().value).toBe('said better than'));
  expect([document.activeElement === line(), wordsField()?.value]).toEqual([true, second.content]);
  expect(workspace.notes.current?.text).toBe(
    'The to-do you were editing was changed or removed meanwhile. Your words are in the line for adding one.',
  );
  await userEvent.keyboard(' before');
  expect(line().value).toBe('said better than before');
  // It comes back as it was, or goes: what was written stands in one place.
  await redraw({ snapshot });
  expect([screen.queryByDisplayValue('said better'), line().value]).toEqual([null, 'said better than before']);
  await redraw({ snapshot: { ...snapshot, todos: others } });
  expect([wordsField(), line().value]).toEqual([null, 'said better than before']);
  write(others[0] as Todo, 'and this');
  await redraw({ snapshot: { ...snapshot, todos: [] } });
  expect(line().value).toBe('said better than before; and this');
});

it('leaves words alone that are on their way to the todo, and has them again where they were not taken', async () => {
  const { scene, workspace, client, session, snapshot, todo, others } = await planned();
  workspace.unsent.put(todoKey(session, todo.id), { was: todo.content, words: 'said better' });
  let answer: (error?: unknown) => void = () => undefined;
  const given = () =>
    new Promise<void>((resolve, reject) => (answer = (error) => (error ? reject(error as Error) : resolve())));
  client.changePlan = vi.fn(given);
  const { redraw } = draw(scene, PlanPane, { snapshot });
  const send = async () => {
    wordsField()?.focus();
    await userEvent.keyboard('{Enter}');
  };
  await send();
  // The news of it is here before the answer.
  const reworded = { ...snapshot, todos: [{ ...todo, content: 'said better' }, ...others] };
  await redraw({ snapshot: reworded });
  expect([wordsField()?.value, line().value]).toEqual(['said better', '']);
  answer();
  await waitFor(() => expect(wordsField()).toBeNull());
  expect([line().value, document.activeElement === line()]).toEqual(['', false]);

  workspace.unsent.put(todoKey(session, todo.id), { was: 'said better', words: 'best' });
  await waitFor(() => expect(wordsField()?.value).toBe('best'));
  await send();
  await redraw({ snapshot: { ...snapshot, todos: others } });
  expect(line().value).toBe('');
  answer({ code: 'not_found', message: 'gone' });
  await waitFor(() => expect(line().value).toBe('best'));
});

it('loses no words that come to the line while what was in it is on its way', async () => {
  const { scene, workspace, client, session, snapshot, todo, others } = await planned();
  let answer: () => void = () => undefined;
  client.changePlan = vi.fn(() => new Promise<void>((resolve) => (answer = resolve)));
  workspace.unsent.put(todoKey(session, todo.id), { was: todo.content, words: 'said better' });
  const drawn = draw(scene, PlanPane, { snapshot });
  await userEvent.type(line(), 'one more{Enter}');
  expect(line().readOnly).toBe(true);
  await drawn.redraw({ snapshot: { ...snapshot, todos: others } });
  expect(line().value).toBe('one more');
  // It is drawn anew meanwhile, as on the board.
  drawn.unmount();
  draw(scene, PlanPane, { snapshot: { ...snapshot, todos: others } });
  expect([line().value, line().readOnly]).toEqual(['one more', true]);
  answer();
  await waitFor(() => expect([line().value, line().readOnly]).toEqual(['said better', false]));
});

it('loses no words that are written while those before them are on their way', async () => {
  const scene = await setUp();
  const { workspace, host, client } = scene;
  const session = workspace.sessionId ?? '';
  const snapshot = host.snapshot(session);
  const todo = snapshot.todos.find(({ status }) => status === 'pending');
  if (!todo) throw new Error('nothing is pending');
  const key = todoKey(session, todo.id);
  let answer: () => void = () => undefined;
  client.changePlan = vi.fn(() => new Promise<void>((resolve) => (answer = resolve)));
  workspace.unsent.put(key, { was: todo.content, words: 'said better' });
  const { redraw } = draw(scene, PlanPane, { snapshot });
  wordsField()?.focus();
  await userEvent.keyboard('{Enter}');
  const at = (one: Todo) => (one === todo ? { ...todo, status: 'in_progress' as const } : one);
  await redraw({ snapshot: { ...snapshot, todos: snapshot.todos.map(at) } });
  expect([wordsField()?.value, wordsField()?.readOnly, document.activeElement]).toEqual([
    'said better',
    true,
    wordsField(),
  ]);
  await userEvent.keyboard('{Enter}');
  expect(client.changePlan).toHaveBeenCalledOnce();
  workspace.unsent.put(key, { was: todo.content, words: 'said best' });
  answer();
  await waitFor(() => expect([wordsField()?.value, wordsField()?.readOnly]).toEqual(['said best', false]));
});

it('leads to the line only with words: a todo of which nothing was written has the keys itself', async () => {
  const scene = await setUp();
  const { workspace, host } = scene;
  const session = workspace.sessionId ?? '';
  const snapshot = host.snapshot(session);
  const [todo, ...others] = snapshot.todos;
  if (!todo) throw new Error('there is no plan');
  const open = () => workspace.unsent.put(todoKey(session, todo.id), { was: todo.content, words: todo.content });
  open();
  const { redraw } = draw(scene, PlanPane, { snapshot });
  wordsField()?.focus();
  await redraw({ snapshot: { ...snapshot, todos: [{ ...todo, content: 'Another' }, ...others] } });
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Another' })));
  await redraw({ snapshot });
  open();
  await waitFor(() => expect(wordsField()).toBeTruthy());
  wordsField()?.focus();
  await redraw({ snapshot: { ...snapshot, todos: others } });
  await tick();
  expect([wordsField(), document.activeElement, line().value]).toEqual([null, document.body, '']);
});

it('keeps what was written where the plan refuses it, to be sent once more', async () => {
  const scene = await setUp();
  const { workspace, host, client } = scene;
  const session = workspace.sessionId ?? '';
  const snapshot = host.snapshot(session);
  const [todo] = snapshot.todos;
  if (!todo) throw new Error('there is no plan');
  workspace.unsent.put(todoKey(session, todo.id), { was: todo.content, words: 'said better' });
  const change = vi.fn().mockRejectedValue({ code: 'invalid', message: 'no' });
  client.changePlan = change;
  draw(scene, PlanPane, { snapshot });
  const line = screen.getByRole<HTMLInputElement>('textbox', { name: 'Add a to-do…' });
  await userEvent.type(line, 'one more{Enter}');
  await userEvent.type(wordsField() as HTMLElement, '{Enter}');
  await waitFor(() => expect(change).toHaveBeenCalledTimes(2));
  await waitFor(() => expect([wordsField()?.readOnly, line.readOnly]).toEqual([false, false]));
  expect([wordsField()?.value, line.value]).toEqual(['said better', 'one more']);
  await userEvent.type(line, '{Enter}');
  expect(change.mock.calls.filter(([, { change }]) => change === 'add')).toHaveLength(2);
});

it('a todo that is dragged stays in the hand when there is news of the plan', async () => {
  const scene = await setUp();
  const { workspace, host } = scene;
  const snapshot = host.snapshot(workspace.sessionId ?? '');
  Element.prototype.setPointerCapture ??= () => undefined;
  document.elementFromPoint ??= () => null;
  const { redraw, container } = draw(scene, PlanPane, { snapshot });
  const card = container.querySelector('[data-lane=pending] [data-todo]');
  if (!card) throw new Error('there is nothing to drag');
  await fireEvent.pointerDown(card, { button: 0, pointerId: 1, pointerType: 'mouse', clientX: 5, clientY: 5 });
  await fireEvent.pointerMove(window, { pointerId: 1, clientX: 25, clientY: 5 });
  const isHeld = () => [card.classList.contains('lifted'), document.querySelector('.dragged') !== null];
  expect(isHeld()).toEqual([true, true]);
  await redraw({ snapshot: structuredClone(snapshot) });
  expect(isHeld()).toEqual([true, true]);
  // Where it is let go is where it is by then: over its own lane, below the others that are there now.
  const lane = card.closest('[data-lane]');
  const lookUp = vi.spyOn(document, 'elementFromPoint').mockReturnValue(lane);
  await fireEvent.pointerUp(window, { pointerId: 1, clientX: 25, clientY: 5 });
  expect([isHeld(), lookUp.mock.calls.length]).toEqual([[false, false], 1]);
});
