import { beforeEach, describe, expect, it, vi } from 'vitest';
import { beforeCalmFrame } from './frame';

describe('a calm frame', () => {
  let waiting: (() => void)[] = [];
  const draw = () => waiting.splice(0).forEach((act) => act());
  const press = () => document.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }));

  beforeEach(() => {
    waiting = [];
    vi.stubGlobal('requestAnimationFrame', (act: () => void) => waiting.push(act));
    // Whatever was pressed before.
    beforeCalmFrame(() => undefined);
    draw();
    draw();
  });

  it('is the next one', () => {
    const act = vi.fn();
    beforeCalmFrame(act);
    expect(act).not.toHaveBeenCalled();
    draw();
    expect(act).toHaveBeenCalledOnce();
  });

  it('is the one after a key’s own, and no later one', () => {
    const act = vi.fn();
    beforeCalmFrame(act);
    press();
    draw();
    expect(act).not.toHaveBeenCalled();
    press();
    draw();
    expect(act).toHaveBeenCalledOnce();
  });
});
