import { fireEvent, render, screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Approval, Decide } from '../../ipc/bindings';
import { approval } from '../../ipc/recorded/builders';
import { draw, setUp } from '../../test/stage';
import ApprovalDock from './ApprovalDock.svelte';
import Requests from './Requests.svelte';
import UnshownRequests from './UnshownRequests.svelte';
import SessionView from '../session/SessionView.svelte';

const UNSHOWN = 'This request could not be shown.';
const preview = { preview: 'command', command: 'make', folder: '/', timeout_seconds: null } as const;
const fine = (): Approval => approval('execute', { command: 'make' }, { preview });
const unshown = (given: Partial<Approval> = {}): Approval =>
  approval('edit_file', { file_path: '/a.rs' }, { preview: { preview: 'diff', diff: null as never }, ...given });

let time = 10_000;
const pass = (ms: number) => (time += ms);

beforeEach(() => {
  vi.spyOn(performance, 'now').mockImplementation(() => time);
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  pass(10_000);
});
afterEach(() => vi.restoreAllMocks());

function show(approvals: Approval[]) {
  const onDecide = vi.fn<(decisions: Decide[]) => Promise<void>>(async () => undefined);
  const onStop = vi.fn();
  return { ...render(ApprovalDock, { approvals, onDecide, onStop }), onDecide, onStop };
}

const button = (name: string) => screen.getByRole('button', { name });

describe('a request that cannot be drawn', () => {
  it('says so, is approved by no key and no press, and is rejected', async () => {
    const asked = unshown();
    const { container, onDecide, onStop } = show([asked]);
    const card = await screen.findByRole('dialog', { name: UNSHOWN });
    expect(card.textContent).toContain('It asks for edit_file and waits; none of it runs until then.');
    expect(screen.queryByRole('button', { name: /Approve|Edit|Respond/ })).toBeNull();
    expect(container.querySelector('.approval')).toBeNull();
    pass(1_000);
    for (const key of ['y', 'e', 'r', 'n']) await fireEvent.keyDown(window, { key });
    expect(onDecide).not.toHaveBeenCalled();

    await userEvent.click(button('Stop the turn'));
    expect(onStop).toHaveBeenCalledOnce();
    await userEvent.click(button('Reject'));
    const { session, call_id, digest } = asked;
    expect(onDecide.mock.calls).toEqual([
      [[{ session, call_id, digest, decision: { decision: 'reject', reason: null } }]],
    ]);
  });

  it('is not rejected by a press that was meant for what stood there before', async () => {
    const { onDecide, onStop } = show([unshown()]);
    await screen.findByRole('dialog', { name: UNSHOWN });
    await userEvent.click(button('Reject'));
    await userEvent.click(button('Stop the turn'));
    expect(onDecide).not.toHaveBeenCalled();
    expect(onStop).not.toHaveBeenCalled();
  });

  it('is told of, and rejected once, where the dock itself cannot be drawn', async () => {
    let refuse = (_: Error) => {};
    const onDecide = vi.fn(() => new Promise<void>((_, reject) => (refuse = reject)));
    const asked = [unshown(), unshown({ call_id: 'other', digest: 'other' })];
    const given = { approvals: asked, thrown: new Error('x'), onAgain: vi.fn(), onDecide, onStop: vi.fn() };
    render(UnshownRequests, given);
    expect(screen.getByRole('alert').textContent).toBe('2 requests wait for an answer and could not be shown.');
    pass(1_000);
    const [first, second] = screen.getAllByRole<HTMLButtonElement>('button', { name: 'Reject' });
    if (!first || !second) throw new Error('no buttons');
    await userEvent.click(first);
    await userEvent.click(first);
    expect(onDecide).toHaveBeenCalledOnce();
    expect([first.disabled, second.disabled]).toEqual([true, false]);
    refuse(new Error('gone'));
    await waitFor(() => expect(first.disabled).toBe(false));
  });

  it('leaves the others to be answered, and offers no rejection where none is allowed', async () => {
    const scene = await setUp();
    const decide = vi.spyOn(scene.client, 'decide');
    const stop = vi.spyOn(scene.client, 'stopTurn');
    draw(scene, Requests, { approvals: [fine(), unshown({ allowed: ['approve'] })] });
    const card = await screen.findByRole('dialog', { name: UNSHOWN });
    pass(1_000);
    expect(screen.getAllByRole('button', { name: 'Reject' }).every((one) => !card.contains(one))).toBe(true);
    expect(button('Approve')).toBeTruthy();
    await userEvent.click(button('Stop the turn'));
    await waitFor(() => expect(stop).toHaveBeenCalledWith('s-refresh'));
    expect(decide).not.toHaveBeenCalled();
  });

  it('is in reach also where the dock itself cannot be drawn, and so is the message box', async () => {
    const scene = await setUp('faulty');
    const { workspace, client } = scene;
    const decide = vi.spyOn(client, 'decide');
    const { session } = workspace;
    if (!session) throw new Error('no session');
    const feed = workspace.feeds.peek(session.id);
    workspace.feeds.acquire(session.id);
    await waitFor(() => expect(feed.snapshot).not.toBeNull());
    // What it asks for is said above the card, too.
    for (const one of feed.snapshot?.approvals ?? [])
      Object.defineProperty(one, 'args', {
        get: () => {
          throw new TypeError('no such thing');
        },
      });
    draw(scene, SessionView, { session, feed });
    await screen.findByRole('dialog', { name: UNSHOWN });
    expect(screen.getByRole('textbox', { name: 'Message' })).toBeTruthy();
    pass(1_000);
    await userEvent.click(button('Reject'));
    await waitFor(() => expect(decide).toHaveBeenCalledOnce());
    expect(decide.mock.calls[0]?.[0][0]?.decision).toEqual({ decision: 'reject', reason: null });
  });
});
