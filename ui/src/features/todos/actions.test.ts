import { expect, it } from 'vitest';
import { setUp } from '../../test/stage';
import type { Todo } from '../../ipc/bindings';
import { en } from '../../shared/i18n/en';
import { changePlan, placeSaid, placeTo, stepTo } from './actions';

const todo = (id: string, status: Todo['status']): Todo => ({ id, content: id, status });
const PLAN = [todo('a', 'completed'), todo('b', 'pending'), todo('c', 'in_progress'), todo('d', 'pending')];
const at = (id: string) => PLAN.find((one) => one.id === id) ?? todo(id, 'pending');
const moved = (id: string, to: number) => PLAN.filter((one) => one.id !== id).toSpliced(to, 0, at(id));

it('a todo steps over its neighbour of the same lane', () => {
  expect([stepTo(PLAN, at('b'), -1), stepTo(PLAN, at('d'), 1), stepTo(PLAN, at('a'), 1)]).toEqual([null, null, null]);
  const down = stepTo(PLAN, at('b'), 1) ?? -1;
  expect(moved('b', down).map(({ id }) => id)).toEqual(['a', 'c', 'd', 'b']);
  const up = stepTo(PLAN, at('d'), -1) ?? -1;
  expect(moved('d', up).map(({ id }) => id)).toEqual(['a', 'd', 'b', 'c']);
});

it('a todo goes to a place of its lane, wherever those of other lanes stand', () => {
  const put = (id: string, place: number) => moved(id, placeTo(PLAN, at(id), place) ?? -1).map((one) => one.id);
  expect(put('b', 1)).toEqual(['a', 'c', 'd', 'b']);
  expect(put('d', 0)).toEqual(['a', 'd', 'b', 'c']);
  // Nobody else is there to stand beside.
  expect(placeTo(PLAN, at('a'), 0)).toBeNull();
  expect(placeSaid(en.plan, PLAN, 'b', 3)).toBe('“b” is now 2 of 2 in “Pending”');
  expect(placeSaid(en.plan, PLAN, 'nobody', 3)).toBe('');
});

it('a todo that goes from the plan can be had back where it stood, with all that was done for it', async () => {
  const { workspace, host } = await setUp();
  const session = workspace.sessionId ?? '';
  const before = host.snapshot(session);
  for (const { id, content } of before.todos) {
    await changePlan(workspace, host.snapshot(session), { change: 'drop', id });
    expect(host.snapshot(session).todos.some((one) => one.id === id)).toBe(false);
    expect(workspace.notes.current?.text).toContain(content);
    await workspace.notes.current?.undo?.();
    expect(host.snapshot(session).todos).toEqual(before.todos);
    expect(host.snapshot(session).evidence).toEqual(before.evidence);
  }
  workspace.notes.dismiss();
  await changePlan(workspace, host.snapshot(session), { change: 'move', id: before.todos[0]?.id ?? '', to: 2 });
  expect(workspace.notes.current).toBeNull();
});
