import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { tool } from '../../ipc/recorded/builders';
import { draw, setUp } from '../../test/stage';
import { toolOf } from './groups';
import ToolDetails from './ToolDetails.svelte';
import { lookOf } from './tools/views';

it('leads to the file in which a long output is whole', async () => {
  const scene = await setUp();
  const output = 'ok\n[The whole output is in /large_tool_results/call-7.]';
  const row = toolOf(tool('execute', { command: 'make' }, { output, output_truncated: true }));
  if (!row) throw new Error('no row');
  draw(scene, ToolDetails, { tool: row, view: lookOf('execute', 'execute').view });
  expect(screen.queryByText('Only the beginning and the end are shown.')).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Open the output in Files' }));
  expect([scene.workspace.layout.tab, scene.workspace.fileGoal]).toEqual(['files', '/large_tool_results/call-7']);
});

it('says once why a change was not made', async () => {
  const scene = await setUp();
  const row = toolOf(tool('write_file', { path: '/a.txt' }, { state: 'failed', output: 'no path is given' }));
  if (!row) throw new Error('no row');
  draw(scene, ToolDetails, { tool: row, view: lookOf('write_file', 'edit').view });
  expect(screen.getAllByText(/no path is given/u)).toHaveLength(1);
});

it('shows how a command ended that said a great deal, and the lines between on demand', async () => {
  const scene = await setUp();
  const lines = Array.from({ length: 400 }, (_, at) => `case_${at}`);
  const output = [...lines, 'FAILED: 1 of 400'].join('\n');
  const row = toolOf(tool('execute', { command: 'make' }, { state: 'failed', output }));
  if (!row) throw new Error('no row');
  const { container } = draw(scene, ToolDetails, { tool: row, view: lookOf('execute', 'execute').view });
  expect(screen.getByText(/^FAILED: 1 of 400/)).toBeTruthy();
  expect(container.textContent).toMatch(/case_39\D.*case_241\D/s);
  expect(container.textContent).not.toMatch(/case_40\D/);
  await userEvent.click(screen.getByRole('button', { name: 'Show more · 201 lines' }));
  const drawn = [...container.querySelectorAll('.line')].map((line) => line.textContent.match(/case_\d+/)?.[0]);
  expect(drawn.slice(0, 400)).toEqual(lines);
});
