import { screen, waitFor } from '@testing-library/svelte';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import userEvent from '@testing-library/user-event';
import type { Snapshot } from '../../ipc/bindings';
import { agent, approval, human, snapshot, summary } from '../../ipc/recorded/builders';
import { draw, setUp } from '../../test/stage';
import AgentsPane from './AgentsPane.svelte';

let time = 10_000;
beforeEach(() => void vi.spyOn(performance, 'now').mockImplementation(() => (time += 1000)));

const preview = { preview: 'command', command: 'sh x.sh', folder: '/', timeout_seconds: null } as const;
const ASKED = approval('execute', { command: 'sh x.sh' }, { session: 's-backon', preview });

const showing = (given: Partial<Snapshot>) =>
  snapshot(summary('s-refresh'), {
    agents: [
      agent('s-refresh'),
      agent('s-tower', { parent: 's-refresh', name: 'tower', status: 'running' }),
      agent('s-backon', { parent: 's-refresh', name: 'backon', status: 'waiting' }),
    ],
    approvals: [ASKED],
    ...given,
  });

describe('the agents', () => {
  it('show the one that needs a person before those at work', async () => {
    draw(await setUp(), AgentsPane, { snapshot: showing({}) });
    expect(screen.getByRole('region', { name: 'What backon did' })).toBeTruthy();
    expect(screen.getByRole('dialog').textContent).toContain('sh x.sh');
  });

  it('show what one was sent to do as the words of the agent that sent it', async () => {
    const scene = await setUp();
    // The window holds the session that is looked at.
    scene.workspace.feeds.acquire(scene.workspace.sessionId ?? '');
    scene.host.emit('s-backon', { type: 'item_started', item: human('Look at backon') });
    draw(scene, AgentsPane, { snapshot: showing({}) });
    const task = await screen.findByText('Look at backon', {}, { timeout: 10_000 });
    await waitFor(() => expect(task.closest('article')?.getAttribute('aria-label')).toBe('Task from research'));
    expect(screen.queryByRole('article', { name: 'You' })).toBeNull();
  });

  it('say whom one asks and where that is, in the tree where it is another than its sender asks', async () => {
    const local = { provider: 'ollama', name: 'qwen3:4b' };
    const agents = [
      agent('s-refresh'),
      agent('s-tower', { parent: 's-refresh', name: 'tower', model: local }),
      agent('s-backon', { parent: 's-refresh', name: 'backon', status: 'waiting' }),
    ];
    const { redraw } = draw(await setUp(), AgentsPane, { snapshot: showing({ agents }) });
    expect(screen.getByRole('region').textContent).toContain('claude-sonnet · api.anthropic.com');
    const rows = screen.getAllByRole('treeitem').map((row) => row.textContent ?? '');
    expect(rows.map((row) => row.includes('qwen3:4b · localhost:11434'))).toEqual([false, true, false]);
    expect(rows.some((row) => row.includes('claude-sonnet'))).toBe(false);
    const gone = agents.map((node) => ({ ...node, model: { provider: 'gone', name: 'm' } }));
    await redraw({ snapshot: showing({ agents: gone }) });
    expect(screen.getByRole('region').textContent).toContain('m · gone');
  });

  it('let a call be answered that is asked again, though its first card was', async () => {
    const scene = await setUp();
    const decide = vi.spyOn(scene.client, 'decide').mockResolvedValue();
    const { redraw } = draw(scene, AgentsPane, { snapshot: showing({}) });
    const user = userEvent.setup();
    const approve = () => screen.getByRole('button', { name: /^Approve/ });
    await user.click(approve());
    await waitFor(() => expect(screen.getByText('Sending…')).toBeTruthy());
    await redraw({ snapshot: showing({ approvals: [{ ...ASKED, digest: 'anew' }] }) });
    expect(screen.queryByText('Sending…')).toBeNull();
    await user.click(approve());
    expect(decide.mock.calls.map(([[one]]) => one?.digest)).toEqual([ASKED.digest, 'anew']);
  });

  it('keep what a person types while another helper begins to ask', async () => {
    const scene = await setUp();
    const { redraw } = draw(scene, AgentsPane, { snapshot: showing({}) });
    const user = userEvent.setup();
    await user.click(screen.getByRole('button', { name: /^Reject/ }));
    await user.type(screen.getByRole('textbox'), 'not like');
    const { agents } = showing({});
    const [own, tower, backon] = agents;
    if (!own || !tower || !backon) throw new Error('three agents');
    const other = approval('execute', { command: 'date' }, { session: 's-tower' });
    const both = showing({ agents: [own, { ...tower, status: 'waiting' }, backon], approvals: [other, ASKED] });
    await redraw({ snapshot: both });
    expect(screen.getByRole('region', { name: 'What backon did' })).toBeTruthy();
    expect(screen.getByRole<HTMLTextAreaElement>('textbox').value).toBe('not like');
  });

  it('show of the main agent how it stands, and no other in its place', async () => {
    const [own, ...helpers] = showing({}).agents;
    if (!own) throw new Error('no main agent');
    const usage = { ...own.usage, context_tokens: 68_000, context_window: 200_000, cost: 0.32 };
    const agents = [{ ...own, status: 'running' as const, current: 'edit_file a.txt', usage }, ...helpers];
    draw(await setUp(), AgentsPane, { snapshot: showing({ agents }) });
    await userEvent.click(screen.getAllByRole('treeitem')[0] as HTMLElement);
    const facts = screen.getByRole('region', { name: 'How it stands with main agent' });
    for (const fact of ['edit_file a.txt', '34% · 68,000 of 200,000 tokens', '$0.32'])
      expect(facts.textContent).toContain(fact);
    expect(screen.getAllByRole('treeitem').map((row) => row.getAttribute('aria-selected'))).toEqual([
      'true',
      'false',
      'false',
    ]);
    expect(screen.queryByRole('dialog')).toBeNull();
  });

  it('say which works in the background, whatever rows of its parent are loaded', async () => {
    const [own, tower, backon] = showing({}).agents;
    if (!own || !tower || !backon) throw new Error('three agents');
    const agents = [own, { ...tower, beside: true }, backon];
    draw(await setUp(), AgentsPane, { snapshot: showing({ agents, items: [] }) });
    const rows = screen.getAllByRole('treeitem').map((row) => row.textContent?.includes('in the background'));
    expect(rows).toEqual([false, true, false]);
  });

  it('are folded and unfolded by the keys, as in any tree', async () => {
    draw(await setUp(), AgentsPane, { snapshot: showing({}) });
    const user = userEvent.setup();
    const rows = () => screen.getAllByRole('treeitem');
    const last = rows()[2];
    last?.focus();
    await user.keyboard('{ArrowLeft}');
    expect(document.activeElement).toBe(rows()[0]);
    await user.keyboard('{ArrowLeft}');
    expect(rows().map((row) => row.getAttribute('aria-expanded'))).toEqual(['false']);
    await user.keyboard('{ArrowRight}');
    expect(rows().map((row) => row.getAttribute('aria-expanded'))).toEqual(['true', null, null]);
    await user.keyboard('{ArrowRight}');
    expect(document.activeElement).toBe(rows()[1]);
    await user.click(screen.getByText((_, one) => one?.classList.contains('turn') === true));
    expect([rows().length, rows()[0]?.getAttribute('aria-selected')]).toEqual([1, 'false']);
  });

  it('come back with the one that was looked at, in each session', async () => {
    const scene = await setUp();
    const { unmount, redraw } = draw(scene, AgentsPane, { snapshot: showing({}) });
    await userEvent.click(screen.getAllByRole('treeitem')[1] as HTMLElement);
    expect(screen.getByRole('region', { name: 'What tower did' })).toBeTruthy();
    const own = { parent: 's-other', name: 'scout' };
    const agents = [agent('s-other'), agent('s-one', own), agent('s-two', { ...own, status: 'waiting' })];
    await redraw({ snapshot: snapshot(summary('s-other'), { agents }) });
    expect(screen.getAllByRole('treeitem')[2]?.getAttribute('aria-selected')).toBe('true');
    unmount();
    draw(scene, AgentsPane, { snapshot: showing({}) });
    expect(screen.getByRole('region', { name: 'What tower did' })).toBeTruthy();
  });

  it('say of several requests which each is', async () => {
    const second = approval('execute', { command: 'date' }, { session: 's-backon' });
    draw(await setUp(), AgentsPane, { snapshot: showing({ approvals: [ASKED, second] }) });
    expect(screen.getAllByRole('dialog').map((card) => /\d of \d/.exec(card.textContent ?? '')?.[0])).toEqual([
      '1 of 2',
      '2 of 2',
    ]);
  });
});
