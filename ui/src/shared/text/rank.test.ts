import { describe, expect, it } from 'vitest';
import { ranked, score } from './rank';

const order = (typed: string, names: string[]) => ranked(typed, names, (name) => name).map(({ one }) => one);

describe('ranking', () => {
  it('leaves out what lacks a letter and keeps the order of what fits alike', () => {
    expect(order('', ['b', 'a'])).toEqual(['b', 'a']);
    expect(order('zz', ['settings', 'jazz'])).toEqual(['jazz']);
    expect(score('xyz', 'Settings')).toBeNull();
  });

  it('puts whole words before scattered letters, and beginnings before middles', () => {
    expect(order('plan', ['a_p_l_a_n', 'Explanations', 'Show the plan'])).toEqual([
      'Show the plan',
      'Explanations',
      'a_p_l_a_n',
    ]);
    expect(order('ns', ['Agents', 'New session'])).toEqual(['New session', 'Agents']);
    expect(order('sr', ['answer', 'session.rs', 'src/refresh.rs'])[0]).toBe('src/refresh.rs');
  });

  it('reads every script', () => {
    expect(order('设置', ['新建会话', '打开设置'])).toEqual(['打开设置']);
  });
});
