import { describe, expect, it } from 'vitest';
import type { ToolItem } from '../../ipc/bindings';
import { en } from '../../shared/i18n/en';
import { ran, sentence } from './toolWords';

const call = (decision: ToolItem['decision']) => ({ name: 'edit_file', args: { file_path: '/a.txt' }, decision });

describe('what is said of a call', () => {
  it('names the file that was put in by whoever decided it', () => {
    const decision = { decision: 'edit', args: { file_path: '/b.txt' } } as const;
    const edited = call({ decision, by: { by: 'person' }, at: 0 });
    expect(ran(edited)).toEqual({ file_path: '/b.txt' });
    expect(sentence(en, { ...edited, args: ran(edited) }, 'done')).toBe('Edited b.txt');
  });

  it('names the model’s own where it ran as it was proposed', () => {
    const approved = call({ decision: { decision: 'approve' }, by: { by: 'person' }, at: 0 });
    for (const one of [approved, call(null)])
      expect(sentence(en, { ...one, args: ran(one) }, 'done')).toBe('Edited a.txt');
  });
});
