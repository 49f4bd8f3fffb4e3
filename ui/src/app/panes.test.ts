import { expect, it, vi } from 'vitest';
import { setUp } from '../test/stage';

it('keeps of each session how its panes were left, and forgets it with the session', async () => {
  const { workspace } = await setUp();
  const { panes } = workspace;
  const [one, two] = workspace.sessions;
  if (!one || !two) throw new Error('two sessions');
  workspace.openSession(one);
  Object.assign(panes.here, { todoFilter: 't1', chosenFile: '/a', scope: 'turn', agent: 's', timeline: 'ledger' });
  workspace.openSession(two);
  expect([panes.here.todoFilter, panes.here.chosenFile, panes.here.scope]).toEqual([null, '', 'session']);
  workspace.openSession(one);
  expect([panes.here.todoFilter, panes.here.chosenFile, panes.here.scope]).toEqual(['t1', '/a', 'turn']);
  expect([panes.here.agent, panes.here.timeline]).toEqual(['s', 'ledger']);
  workspace.openSession(two);
  workspace.sessionsChanged(workspace.sessions.filter(({ id }) => id !== one.id));
  expect(panes.of(one.id).todoFilter).toBeNull();
});

it('keeps no more than the sessions that were looked at last', async () => {
  const { panes } = (await setUp()).workspace;
  for (let at = 0; at < 60; at++) {
    panes.of('first').agent = 'kept';
    panes.of(`s${at}`).agent = 'left';
  }
  expect([panes.of('first').agent, panes.of('s59').agent, panes.of('s5').agent]).toEqual(['kept', 'left', '']);
});

it('leaves the drawer with the keys in the message, unless something waits for an answer', async () => {
  const { workspace } = await setUp();
  const { layout, panes } = workspace;
  const isDrawer = vi.spyOn(layout, 'isDrawer', 'get').mockReturnValue(true);
  const chosen = (id: string) => {
    const session = workspace.sessions.find((one) => one.id === id);
    if (session) workspace.openSession(session);
    layout.drawerOpen = true;
    const before = workspace.isWriting;
    panes.filterBy('t');
    return [layout.drawerOpen, workspace.isWriting - before];
  };
  const free = workspace.sessions.find(({ waiting, parent }) => waiting === 0 && parent === null);
  const held = workspace.sessions.find(({ waiting, parent }) => waiting > 0 && parent === null);
  if (!free || !held) throw new Error('a session of each kind');
  expect(chosen(free.id)).toEqual([false, 1]);
  expect(chosen(held.id)).toEqual([false, 0]);
  layout.drawerOpen = true;
  workspace.openSession(free);
  expect(layout.drawerOpen).toBe(false);
  isDrawer.mockReturnValue(false);
  expect(chosen(free.id)).toEqual([true, 0]);
});
