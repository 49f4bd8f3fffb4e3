import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { draw, setUp } from '../../test/stage';
import SummaryDialog from './SummaryDialog.svelte';

const making = 'Summarising the conversation…';

/** The dialog over a session in which nothing goes on. */
async function atRest() {
  const scene = await setUp();
  const session = scene.workspace.sessionId ?? '';
  scene.host.update(session, { status: 'idle' });
  await waitFor(() => expect(scene.workspace.session?.status).toBe('idle'));
  return { ...scene, session };
}

it('stops the summary that it began, which is no error', async () => {
  const scene = await atRest();
  const { client, host, session } = scene;
  let refuse: (reason: unknown) => void = () => undefined;
  vi.spyOn(client, 'compactSession').mockImplementation(() => {
    host.update(session, { status: 'running', summing_up: true });
    return new Promise((_, reject) => (refuse = reject));
  });
  const stop = vi.spyOn(client, 'stopTurn');
  const user = userEvent.setup();
  draw(scene, SummaryDialog, { onClose: () => undefined });
  await screen.findByText('Nothing has been summarised yet: the model reads the whole conversation.');
  await user.click(screen.getByRole('button', { name: 'Summarise now' }));
  await screen.findByText(making);
  await user.click(screen.getByRole('button', { name: 'Stop' }));
  expect(stop).toHaveBeenCalledExactlyOnceWith(session);
  refuse({ code: 'invalid', message: '', problem: { problem: 'stopped' } });
  await screen.findByRole('button', { name: 'Summarise now' });
  expect(screen.queryByText(making)).toBeNull();
  expect(screen.queryByRole('alert')).toBeNull();
});

it('shows one that was begun before it was opened, and what came of it', async () => {
  const scene = await atRest();
  const { client, host, session } = scene;
  host.update(session, { status: 'running', summing_up: true });
  await waitFor(() => expect(scene.workspace.session?.summing_up).toBe(true));
  draw(scene, SummaryDialog, { onClose: () => undefined });
  await screen.findByText(making);
  screen.getByRole('button', { name: 'Stop' });
  expect(screen.queryByText('A turn is running. Stop it, or wait until it ends.')).toBeNull();
  const made = await client.compactSession(session, 'the sails');
  host.update(session, { status: 'idle', summing_up: false });
  await waitFor(() => expect(screen.getByLabelText<HTMLTextAreaElement>(/What the model reads/).value).toBe(made.text));
  expect(screen.queryByText(making)).toBeNull();
});

it('says what of the conversation the model was not shown', async () => {
  const scene = await atRest();
  const { client, session } = scene;
  const made = await client.compactSession(session, '');
  vi.spyOn(client, 'sessionSummary').mockResolvedValue({ ...made, left_out: 1_200 });
  draw(scene, SummaryDialog, { onClose: () => undefined });
  await screen.findByText(/1,200 characters of its middle did not fit and are not in the summary\./);
});
