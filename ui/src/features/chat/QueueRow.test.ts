import { fireEvent, render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import type { QueueActions } from './actions';
import QueueRow from './QueueRow.svelte';

const MESSAGE = { id: 'm1', text: 'as it waits', attachments: [] };

function show(written: Map<string, string>, isTaken = true) {
  const onEdit = vi.fn(async (id: string) => {
    if (isTaken) written.delete(id);
    return isTaken;
  });
  const actions = {
    onEdit,
    written: (id: string) => written.get(id) ?? null,
    onWrite: (id: string, text: string | null) => void (text === null ? written.delete(id) : written.set(id, text)),
  } as Partial<QueueActions> as QueueActions;
  const drawn = render(QueueRow, { message: MESSAGE, at: 0, last: 0, actions });
  return { ...drawn, onEdit };
}

const field = () => screen.queryByRole<HTMLTextAreaElement>('textbox', { name: 'Edit the message' });

it('a message that waits is being changed to the same words when its row comes back, until they are kept or left', async () => {
  const written = new Map<string, string>();
  const first = show(written);
  await userEvent.click(screen.getByRole('button', { name: 'Edit the message' }));
  // What is as it was is nothing to come back to.
  expect([field()?.value, written.size]).toEqual(['as it waits', 0]);
  await fireEvent.input(field() as HTMLElement, { target: { value: 'said better' } });
  first.unmount();

  const second = show(written);
  expect([field()?.value, document.activeElement === field()]).toEqual(['said better', false]);
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  expect(second.onEdit.mock.calls).toEqual([['m1', 'said better']]);
  expect([field(), written.size]).toEqual([null, 0]);

  written.set('m1', 'said worse');
  second.unmount();
  const third = show(written);
  await userEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  expect([third.onEdit.mock.calls.length, field(), written.size]).toEqual([0, null, 0]);
});

it('what is refused stays written in its field, and can be kept once more', async () => {
  const written = new Map([['m1', 'said better']]);
  const { onEdit } = show(written, false);
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  expect([field()?.value, field()?.readOnly, written.get('m1')]).toEqual(['said better', false, 'said better']);
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  expect(onEdit).toHaveBeenCalledTimes(2);
});
