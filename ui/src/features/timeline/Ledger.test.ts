import { cleanup, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import type { Decision, DecisionRecord, LedgerEntry } from '../../ipc/bindings';
import { i18n } from '../../shared/i18n/i18n.svelte';
import { draw, setUp } from '../../test/stage';
import Ledger from './Ledger.svelte';

const AT = Date.parse('2026-05-04T15:19:00');
const byPerson = (decision: Decision): DecisionRecord => ({ decision, by: { by: 'person' }, at: AT });

async function open(change: Partial<LedgerEntry>) {
  const scene = await setUp();
  const snapshot = scene.host.snapshot(scene.workspace.sessionId ?? '');
  const session = snapshot.session.id;
  const entry: LedgerEntry = {
    row: `${session}/7/0`,
    session,
    call_id: 'call-7',
    agent: ['main'],
    tool: 'execute',
    proposed: { command: 'cargo test' },
    ran: null,
    decision: null,
    state: 'done',
    files: [],
    proposed_at: AT,
    started_at: null,
    ended_at: null,
    cost: null,
    ...change,
  };
  const agents = snapshot.agents.map((node, at) => (at === 1 ? { ...node, session: 'scout' } : node));
  draw(scene, Ledger, { entries: [entry], snapshot: { ...snapshot, agents } });
  const user = userEvent.setup();
  await user.click(screen.getByRole('button', { expanded: false }));
  const details = within(screen.getByRole('listitem'));
  return { ...scene, snapshot, session, user, details };
}

it('says when it was decided, and how long it ran', async () => {
  const { details } = await open({
    decision: byPerson({ decision: 'approve' }),
    started_at: AT,
    ended_at: AT + 8_000,
  });
  expect(details.getByText(`decided ${i18n.f.time(AT)} · ran 8 s`)).toBeTruthy();
});

it('says that nobody had to decide where it ran so, and nothing of what still waits', async () => {
  const { details } = await open({ started_at: AT, ended_at: AT + 8_000 });
  expect(details.getByText('needed no approval · ran 8 s')).toBeTruthy();
  cleanup();
  const waiting = await open({ state: 'waiting' });
  expect(waiting.details.queryByText(/needed no approval/)).toBeNull();
});

it('has the reason of a rejection, and the answer in a tool’s place', async () => {
  const { details } = await open({
    decision: byPerson({ decision: 'reject', reason: 'Not on this branch.' }),
    state: 'rejected',
  });
  expect(details.getByText('Not on this branch.')).toBeTruthy();
  cleanup();
  const answered = await open({ decision: byPerson({ decision: 'respond', text: 'It passes.' }), state: 'answered' });
  expect(answered.details.getByText('It passes.')).toBeTruthy();
});

it('leads to the row of the call, or to the subagent that called', async () => {
  const { details, user, workspace, session } = await open({});
  await user.click(details.getByRole('button', { name: 'Show in conversation' }));
  expect(workspace.goal).toEqual({ session, foundIn: session, item: null, call: 'call-7', text: '' });
  cleanup();
  const other = await open({ session: 'scout', agent: ['main', 'scout'] });
  await other.user.click(other.details.getByRole('button', { name: 'Show what the subagent did' }));
  expect(other.workspace.dialog).toMatchObject({ kind: 'agent', node: { session: 'scout' } });
});

it('leads to what changed of a file, or to the file where nothing is left of that', async () => {
  const first = await open({});
  const changed = first.snapshot.changes[0]?.path ?? '';
  cleanup();
  const { details, user, workspace } = await open({ files: [changed, '/memories/notes.md'] });
  await user.click(details.getByRole('button', { name: changed.replace(/^\//, '') }));
  expect([workspace.panes.here.chosenFile, workspace.layout.tab]).toEqual([changed, 'changes']);
  await user.click(details.getByRole('button', { name: '/memories/notes.md' }));
  expect([workspace.fileGoal, workspace.layout.tab]).toEqual(['/memories/notes.md', 'files']);
});
