import { describe, expect, it } from 'vitest';
import type { SubagentPathRule } from '../../ipc/bindings';
import { rowOf, ruleOf } from './pathRules';

describe('rules about paths in a form', () => {
  it('come back as they were', () => {
    const rules: SubagentPathRule[] = [
      { mode: 'deny', operations: ['read', 'write'], paths: ['/secrets/**', '/{a,b}/x y'] },
      { mode: 'interrupt', operations: ['write'], paths: ['/docs/*.md'] },
      { mode: 'allow', operations: ['read'], paths: ['/**'] },
    ];
    expect(rules.map(rowOf).map(ruleOf)).toEqual(rules);
  });

  it('leave out what is empty, and part paths at commas outside of braces', () => {
    expect(ruleOf({ mode: 'deny', what: 'read', paths: ' /a ,, /{b,c} ,' }).paths).toEqual(['/a', '/{b,c}']);
    expect(ruleOf({ mode: 'deny', what: 'read', paths: '}, /a' }).paths).toEqual(['}', '/a']);
  });
});
