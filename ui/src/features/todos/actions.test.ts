import { expect, it } from 'vitest';
import type { Todo } from '../../ipc/bindings';
import { stepTo } from './actions';

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
