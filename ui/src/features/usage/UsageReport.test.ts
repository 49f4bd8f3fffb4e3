import { screen, within } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import type { CallUsage, SessionUsage, UsageTotal } from '../../ipc/bindings';
import { en } from '../../shared/i18n/en';
import { draw, setUp } from '../../test/stage';
import UsageReport from './UsageReport.svelte';

const total = (cost: number): UsageTotal => ({
  calls: 2,
  input_tokens: 1_000,
  output_tokens: 50,
  cache_read_tokens: 0,
  cost,
  unpriced: 0,
});
const model = { provider: 'anthropic', name: 'claude-sonnet' };
const call = (name: string | null, reasoning_tokens: number | null): CallUsage => ({
  at: 0,
  milliseconds: 10,
  model,
  purpose: 'answer',
  agent: name === null ? null : { session: `s-${name}`, name },
  input_tokens: 500,
  output_tokens: 25,
  cache_read_tokens: null,
  reasoning_tokens,
  cost: 0.1,
});

async function drawn(session: Partial<SessionUsage>) {
  const scene = await setUp();
  scene.client.sessionUsage = () =>
    Promise.resolve({ total: total(0.3), models: [{ model, total: total(0.3) }], agents: [], calls: [], ...session });
  draw(scene, UsageReport, {});
  return screen.findByRole('table', { name: 'Usage and cost' });
}

const cells = (row: HTMLElement) => [...row.querySelectorAll('th, td')].map(({ textContent }) => textContent.trim());

it('tells by whom what was used, where several worked', async () => {
  const agents = [
    { agent: { session: 'a', name: 'main' }, total: total(0.2) },
    { agent: { session: 'b', name: 'reader' }, total: total(0.1) },
  ];
  const table = await drawn({ agents });
  within(table).getByRole('rowheader', { name: 'By agent' });
  within(table).getByRole('row', { name: /^main agent 2 1k – 50 \$0\.20/i });
  within(table).getByRole('row', { name: /^reader 2 1k – 50 \$0\.10/ });
});

it('has no list of one', async () => {
  const table = await drawn({ agents: [{ agent: { session: 'a', name: 'main' }, total: total(0.3) }] });
  expect(within(table).queryByText('By agent')).toBeNull();
});

it('says of each call who made it and how much of it was thought', async () => {
  await drawn({ calls: [call('reader', 20), call(null, null)] });
  const table = document.querySelector<HTMLElement>('details table');
  const rows = [...(table?.querySelectorAll('tr') ?? [])].map(cells);
  expect(rows[0]).toEqual(['When', 'For', 'Agent', 'Took', 'Read', 'Cached', 'Written', 'Thought', 'Cost']);
  expect(rows[1]?.slice(1)).toEqual(['Step · claude-sonnet', 'reader', '10 ms', '500', '–', '25', '20', '$0.10']);
  expect(rows[2]?.slice(2, 3)).toEqual(['–']);
});

it('calls agents as elsewhere, and hides no letter of a name', async () => {
  const odd = 'read\u202eer';
  const agents = ['main', odd].map((name) => ({ agent: { session: name, name }, total: total(0.1) }));
  await drawn({ agents, calls: [call('main', null), call(odd, null)] });
  const titles = [...document.querySelectorAll('[title]')].map((cell) => cell.getAttribute('title') ?? '');
  expect(titles.filter((title) => title === en.approvals.main)).toHaveLength(2);
  expect(titles.filter((title) => title.startsWith('read⟨'))).toHaveLength(2);
  expect(document.body.textContent).not.toContain('\u202e');
  expect(titles.join()).not.toContain('\u202e');
});

it('has no column that nothing stands in', async () => {
  await drawn({ calls: [call(null, null)] });
  const heads = [...document.querySelectorAll('details th[scope=col]')].map(({ textContent }) => textContent);
  expect(heads).toEqual(['When', 'For', 'Took', 'Read', 'Cached', 'Written', 'Cost']);
});
