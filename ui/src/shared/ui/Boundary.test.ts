import { fireEvent, render, screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { createRawSnippet, tick } from 'svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Item } from '../../ipc/bindings';
import { ai, human, snapshot, summary, tool } from '../../ipc/recorded/builders';
import Inspector from '../../app/Inspector.svelte';
import Window from '../../app/Window.svelte';
import App from '../../app/App.svelte';
import Rows from '../../features/chat/Rows.svelte';
import { recordedClient } from '../../ipc/recorded';
import { world } from '../../ipc/recorded/worlds';
import { draw, setUp } from '../../test/stage';
import { faultsTo } from '../faults';
import { i18n } from '../i18n/i18n.svelte';
import Boundary from './Boundary.svelte';
import Fault from './Fault.svelte';

/** Dialogs are fetched when they are first opened. */
const SLOW = { timeout: 20_000 };
const AGAIN = { name: 'Try again' };
vi.stubGlobal('CSS', {});

let isBroken = true;
const written: string[][] = [];

beforeEach(() => {
  isBroken = true;
  written.length = 0;
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  faultsTo(async (...fault) => void written.push(fault));
});
afterEach(() => vi.restoreAllMocks());

/** One that cannot be drawn for as long as it is broken. */
function broken<T extends object, K extends keyof T>(given: T, name: K): T {
  const value = given[name];
  return Object.defineProperty(given, name, {
    enumerable: true,
    get() {
      if (isBroken) throw new TypeError('no such thing');
      return value;
    },
  });
}

const message = (text: string): Item => human(text);
const unshown = (text: string): Item => {
  const row = human(text);
  if (row.body.kind === 'human') broken(row.body, 'attachments');
  return row;
};

describe('a row that cannot be drawn', () => {
  it('says so and leaves the others, and is drawn when it is tried again', async () => {
    const { container } = render(Rows, { items: [message('before'), unshown('in between'), message('behind')] });
    const again = await screen.findByRole('button', AGAIN);
    expect(container.querySelectorAll('.group')).toHaveLength(3);
    expect(container.textContent).toContain('before');
    expect(container.textContent).not.toContain('in between');
    expect(container.textContent).toContain('behind');
    expect(container.textContent).toContain('This row could not be shown. No work is lost');
    expect(written).toEqual([['row', 'TypeError: no such thing', expect.stringContaining('TypeError')]]);

    await userEvent.click(again);
    await waitFor(() => expect(screen.queryAllByRole('button', AGAIN)).toHaveLength(1));
    expect(written, 'it is told again').toHaveLength(2);
    isBroken = false;
    await userEvent.click(screen.getByRole('button', AGAIN));
    await waitFor(() => expect(container.textContent).toContain('in between'));
    expect(container.querySelector('.fault')).toBeNull();
  });

  it('leaves the calls around it, and is tried again when its call is in another state', async () => {
    const calls = ['a', 'b', 'c'].map((name) => tool('read_file', { file_path: `/${name}.rs` }, { state: 'failed' }));
    const [, second] = calls;
    if (second?.body.kind !== 'tool') throw new Error('no call');
    broken(second.body, 'figures');
    const { container, redraw } = draw(await setUp(), Rows, { items: calls });
    await screen.findByRole('button', AGAIN);
    expect(container.querySelectorAll('.fault')).toHaveLength(1);
    expect(container.textContent).toContain('a.rs');
    expect(container.textContent).toContain('c.rs');

    isBroken = false;
    const done: Item = { ...second, body: { ...second.body, state: 'cancelled' } };
    await redraw({ items: calls.map((one) => (one === second ? done : one)) });
    await waitFor(() => expect(container.querySelector('.fault')).toBeNull());
    expect(container.textContent).toContain('b.rs');
  });

  it('changes nothing about the page as long as nothing fails', async () => {
    const { container } = render(Rows, { items: [message('one'), ai('two')] });
    await tick();
    const inside = [...container.querySelectorAll('.group')].map(({ children }) =>
      [...children].map((one) => one.tagName),
    );
    expect(inside).toEqual([
      ['ARTICLE', 'DIV'],
      ['ARTICLE', 'DIV'],
    ]);
  });

  it('gives what helps to find the fault, in either language', async () => {
    const user = userEvent.setup();
    i18n.use('zh-CN', 'zh-CN');
    const { container } = render(Rows, { items: [unshown('x')] });
    await user.click(await screen.findByRole('button', { name: '复制详情' }));
    expect(container.textContent).toMatch(/这一行无法显示。\s*工作没有丢失/);
    expect(await navigator.clipboard.readText()).toMatch(/^Bosun · row\nTypeError: no such thing/);
    await waitFor(() => expect(screen.getByRole('status').textContent).toBe('已复制'));
  });
});

describe('a pane that cannot be drawn', () => {
  it('leaves its tabs and the other panes, and is tried again for another session', async () => {
    const scene = await setUp();
    scene.workspace.layout.show('plan');
    const todo = broken({ id: 't1', content: 'Look', status: 'in_progress' as const }, 'content');
    const { redraw, container } = draw(scene, Inspector, { snapshot: snapshot(summary('s'), { todos: [todo] }) });
    await screen.findByText('“Plan” could not be shown.');
    expect(screen.getByRole('tab', { name: /Plan/ }).textContent).toContain('0/1');

    await userEvent.click(screen.getByRole('tab', { name: /Agents/ }));
    await waitFor(() => expect(container.querySelector('.fault')).toBeNull());
    await userEvent.click(screen.getByRole('tab', { name: /Plan/ }));
    await screen.findByText('“Plan” could not be shown.');
    const fine = snapshot(summary('other'), { todos: [{ id: 't2', content: 'Write', status: 'pending' }] });
    await redraw({ snapshot: fine });
    expect(await screen.findByText('Write')).toBeTruthy();
    expect(container.querySelector('.fault')).toBeNull();
    expect(written.map(([place]) => place)).toEqual(['pane plan', 'pane plan']);
  });
});

describe('a dialog that cannot be drawn', () => {
  it('leaves the window, says so, and can be tried again and closed', async () => {
    const made = world('faulty');
    const { client } = recordedClient(made);
    render(Window, { client, info: await client.start(), onReady: () => Promise.resolve(), onUnusable: vi.fn() });
    await screen.findAllByText('This row could not be shown.', {}, SLOW);
    await userEvent.keyboard('{Control>}k{/Control}');
    await userEvent.type(await screen.findByRole('combobox', {}, SLOW), 'plan as a board');
    await userEvent.keyboard('{Enter}');
    const dialog = await screen.findByRole('dialog', { name: 'This dialog could not be shown.' }, SLOW);
    expect(screen.getByRole('region', { name: 'Conversation', hidden: true })).toBeTruthy();
    const [again] = [...dialog.querySelectorAll('button')].filter(({ textContent }) => textContent === AGAIN.name);
    if (!again) throw new Error('nothing to try again with');
    await userEvent.click(again);
    await screen.findByRole('dialog', { name: 'This dialog could not be shown.' });
    await userEvent.keyboard('{Escape}');
    await waitFor(() => expect(document.querySelector('.dialog')).toBeNull());
    // A dialog that broke off while it was drawn would leave the page locked.
    await waitFor(() => expect(document.body.style.pointerEvents).not.toBe('none'));
  }, 60_000);
});

describe('a window that cannot be drawn', () => {
  it('says so, keeps nobody waiting and offers to load it again', async () => {
    const { client, host } = recordedClient(world('mock'));
    const begun = await client.start();
    const info = broken({ ...begun }, 'settings');
    render(App, { client: { ...client, start: async () => info } });
    await screen.findByText('The window could not be shown.', {}, SLOW);
    expect(screen.getByRole('button', { name: 'Load the window again' })).toBeTruthy();
    await waitFor(() => expect(host.calls.some(({ name }) => name === 'uiReady')).toBe(true), SLOW);
    const [first] = host.calls.filter(({ name }) => name === 'reportFault');
    expect(first?.value).toMatchObject({ place: 'window', message: 'TypeError: no such thing' });
    // What was made of it goes on listening and would write over what a second one keeps.
    expect(screen.queryByRole('button', AGAIN)).toBeNull();
  }, 60_000);

  it.each([
    [true, 'Copied'],
    [false, 'Nothing was copied'],
  ])('hands on the details, and says whether it could: %s', async (isCopied, note) => {
    const writeText = vi.fn(() => (isCopied ? Promise.resolve() : Promise.reject(new Error('no'))));
    vi.spyOn(navigator, 'clipboard', 'get').mockReturnValue({ writeText } as never);
    render(Fault, { place: 'row', title: 'x', thrown: new Error('inside') });
    await fireEvent.click(screen.getByRole('button', { name: 'Copy details' }));
    await waitFor(() => expect(screen.getByRole('status').textContent).toContain(note));
    expect(document.querySelector(isCopied ? '.lucide-check' : '.lucide-x')).toBeTruthy();
  });
});

it('holds what throws after it was drawn, too', async () => {
  const children = createRawSnippet(() => ({
    render: () => '<p></p>',
    setup: () => {
      throw new Error('inside');
    },
  }));
  render(Boundary, { place: 'part', title: 'This part could not be shown.', children });
  expect(await screen.findByText('This part could not be shown.')).toBeTruthy();
  expect(written[0]?.slice(0, 2)).toEqual(['part', 'Error: inside']);
});
