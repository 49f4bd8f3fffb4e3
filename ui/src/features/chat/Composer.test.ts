import { fireEvent, render, screen } from '@testing-library/svelte';
import type { ComponentProps } from 'svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { i18n } from '../../shared/i18n/i18n.svelte';
import Composer from './Composer.svelte';

function show(given: Partial<Omit<ComponentProps<typeof Composer>, 'onText' | 'onSend' | 'onSteer' | 'onStop'>> = {}) {
  const props = {
    text: '',
    isRunning: false,
    isFirst: false,
    onText: vi.fn(),
    onSend: vi.fn(),
    onSteer: vi.fn(),
    onStop: vi.fn(),
    ...given,
  };
  const drawn = render(Composer, props);
  return { ...drawn, ...props, field: screen.getByRole('textbox', { name: 'Message' }), user: userEvent.setup() };
}

afterEach(() => i18n.use('en', 'en'));

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
    expect(screen.getByText('Sandbox: off, asks')).toBeTruthy();
  });

  it.each([
    ['en', 'Sandbox: on', 'Sandbox: off, asks'],
    ['zh-CN', '沙箱：开', '沙箱：关，逐次询问'],
  ] as const)('states in %s whether commands run in a sandbox', async (language, on, off) => {
    const { rerender } = show({ isSandboxed: true });
    i18n.use(language, language);
    await tick();
    expect([screen.queryByText(on), screen.queryByText(off)].map((chip) => chip !== null)).toEqual([true, false]);
    await rerender({ isSandboxed: false });
    expect([screen.queryByText(on), screen.queryByText(off)].map((chip) => chip !== null)).toEqual([false, true]);
  });

  it('offers commands at the start of a message, and does the chosen one in place of sending', async () => {
    const run = vi.fn();
    const commands = ['/plan', '/stop'].map((label) => ({ id: label, label, run: () => run(label) }));
    const { field, onSend, onText, user } = show({ text: '/s', commands });
    field.focus();
    await user.keyboard('{End}');
    expect(screen.getAllByRole('option').map((one) => one.textContent.trim())).toEqual(['/stop']);
    expect(field.getAttribute('aria-activedescendant')).toBe(screen.getByRole('option').id);
    await user.keyboard('{Enter}');
    expect([run.mock.calls, onText.mock.calls, onSend.mock.calls]).toEqual([[['/stop']], [['']], []]);
  });

  it('asks before it sends a word after a slash that names nothing', async () => {
    const commands = [{ id: 'e', label: '/export', note: 'Export the session', also: 'download', run: vi.fn() }];
    const isSkill = (name: string) => Promise.resolve(name === 'commit');
    const { field, onSend, rerender, user } = show({ text: '/test', commands, isSkill });
    await fireEvent.keyDown(field, enter);
    const asked = await screen.findByRole('alert');
    expect([asked.textContent.includes('“/test”'), onSend.mock.calls]).toEqual([true, []]);
    await user.click(screen.getByRole('button', { name: 'Send as it is' }));
    expect(onSend.mock.calls).toEqual([['/test']]);
    await rerender({ text: '/commit' });
    await fireEvent.keyDown(field, enter);
    await vi.waitFor(() => expect(onSend.mock.calls.at(-1)).toEqual(['/commit']));
    expect(screen.queryByRole('alert')).toBeNull();
    await rerender({ text: '/src/lib.rs is wrong' });
    await fireEvent.keyDown(field, enter);
    expect(onSend.mock.calls.at(-1)).toEqual(['/src/lib.rs is wrong']);
  });

  it('offers files after a sign, until that is declined', async () => {
    const named = vi.fn();
    const find = (typed: string) =>
      Promise.resolve(typed === 'lib' ? [{ id: 'f', label: 'src/lib.rs', run: () => named('src/lib.rs') }] : []);
    const { field, onSend, onText, user } = show({ text: 'Read @lib', find });
    field.focus();
    await user.keyboard('{End}');
    await screen.findByRole('option', { name: 'src/lib.rs' });
    await user.keyboard('{Tab}');
    expect(named.mock.calls).toEqual([['src/lib.rs']]);
    expect(onText.mock.calls).toEqual([['Read @src/lib.rs ']]);
    expect(field).toBe(document.activeElement);
    await user.keyboard('{Escape}');
    expect(screen.queryByRole('listbox')).toBeNull();
    await user.keyboard('{Enter}');
    expect(onSend).toHaveBeenCalledOnce();
  });

  it('takes files out of the clipboard and waits until they are kept', async () => {
    const file = { id: 1, name: 'a.png', size: 9, kind: 'image' as const, blob: null, picture: null };
    const onAttach = vi.fn();
    const onDetach = vi.fn();
    const { field, onSend, rerender, user } = show({ text: '', attached: [file], onAttach, onDetach });
    await fireEvent.paste(field, { clipboardData: { files: [new File(['x'], 'b.md')] } });
    expect(onAttach).toHaveBeenCalledOnce();
    await fireEvent.keyDown(field, enter);
    expect(onSend).not.toHaveBeenCalled();
    await rerender({ attached: [{ ...file, blob: 'kept' }], sight: { images: false, documents: true } });
    expect(screen.getByRole('status').textContent).toContain('gets only their names');
    await fireEvent.keyDown(field, enter);
    expect(onSend).toHaveBeenCalledWith('');
    await user.click(screen.getByRole('button', { name: 'Remove “a.png”' }));
    expect(onDetach).toHaveBeenCalledWith(1);
  });

  it('steers a running turn with Control and Enter; without one that sends', async () => {
    const running = show({ text: 'Use pnpm', isRunning: true });
    await fireEvent.keyDown(running.field, { ...enter, ctrlKey: true });
    expect([running.onSteer.mock.calls, running.onSend.mock.calls]).toEqual([[['Use pnpm']], []]);
    running.unmount();
    const calm = show({ text: 'Use pnpm' });
    await fireEvent.keyDown(calm.field, { ...enter, ctrlKey: true });
    expect([calm.onSteer.mock.calls, calm.onSend.mock.calls]).toEqual([[], [['Use pnpm']]]);
  });
});
