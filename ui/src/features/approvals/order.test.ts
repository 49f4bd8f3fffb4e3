import { describe, expect, test } from 'vitest';
import type { Approval, Item } from '../../ipc/bindings';
import { inCallOrder } from './order';

const row = (call_id: string) => ({ id: call_id, body: { kind: 'tool', call_id } }) as unknown as Item;
const ask = (session: string, call_id: string) => ({ session, call_id }) as Approval;

describe('requests', () => {
  test('stand in the order of their calls, those of subagents behind them', () => {
    const rows = ['c1', 'c2', 'c3'].map(row);
    const came = [ask('sub', 'c1'), ask('s', 'c3'), ask('s', 'c1'), ask('s', 'c2')];
    const shown = inCallOrder('s', came, rows).map(({ session, call_id }) => `${session}/${call_id}`);
    expect(shown).toEqual(['s/c1', 's/c2', 's/c3', 'sub/c1']);
  });
});
