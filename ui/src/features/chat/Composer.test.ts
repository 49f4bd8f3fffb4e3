import { fireEvent, render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import Composer from './Composer.svelte';

function show(given: Partial<{ text: string; isRunning: boolean; disabled: boolean }> = {}) {
  const props = {
    text: '',
    isRunning: false,
    isFirst: false,
    onText: vi.fn(),
    onSend: vi.fn(),
    onStop: vi.fn(),
    ...given,
  };
  const drawn = render(Composer, props);
  return { ...drawn, ...props, field: screen.getByRole('textbox', { name: 'Message' }), user: userEvent.setup() };
}

const enter = { key: 'Enter', keyCode: 13 };

describe('the message box', () => {
  it('sends with Enter and breaks the line with Shift and Enter', async () => {
    const { field, onSend } = show({ text: 'Do it' });
    const broken = await fireEvent.keyDown(field, { ...enter, shiftKey: true });
    expect([broken, onSend.mock.calls.length]).toEqual([true, 0]);
    const taken = await fireEvent.keyDown(field, enter);
    expect([taken, onSend.mock.calls]).toEqual([false, [['Do it']]]);
  });

  it('never sends with the Enter that confirms a candidate of an input method', async () => {
    const { field, onSend } = show({ text: '整理' });
    await fireEvent.keyDown(field, { ...enter, isComposing: true });
    // WebKit ends the composition first and tells by the key code alone.
    await fireEvent.keyDown(field, { key: 'Enter', keyCode: 229 });
    expect(onSend).not.toHaveBeenCalled();
    await fireEvent.keyDown(field, enter);
    expect(onSend).toHaveBeenCalledOnce();
  });

  it('sends nothing that is blank, and nothing without a project', async () => {
    const blank = show({ text: ' \n ' });
    await fireEvent.keyDown(blank.field, enter);
    expect(screen.getByRole('button', { name: 'Send' })).toHaveProperty('disabled', true);
    blank.unmount();
    const { field, onSend } = show({ text: 'Do it', disabled: true });
    await fireEvent.keyDown(field, enter);
    expect(onSend).not.toHaveBeenCalled();
    expect(blank.onSend).not.toHaveBeenCalled();
  });

  it('becomes a stop button while a turn runs, and queues what is typed', async () => {
    const { user, onStop, onSend, rerender } = show({ isRunning: true });
    expect(screen.queryByRole('button', { name: 'Send' })).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Stop' }));
    expect(onStop).toHaveBeenCalledOnce();
    await rerender({ text: 'and then' });
    await user.click(screen.getByRole('button', { name: 'Queue' }));
    expect(onSend).toHaveBeenCalledWith('and then');
  });

  it('tells what is typed and states the mode', async () => {
    const { user, field, onText } = show();
    await user.type(field, 'a');
    expect(onText).toHaveBeenCalledWith('a');
    expect(screen.getByText('Ask before changes')).toBeTruthy();
    expect(screen.getByText('Sandbox: off, asks')).toBeTruthy();
  });
});
