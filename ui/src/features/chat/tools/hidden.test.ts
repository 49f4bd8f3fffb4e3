import { render, screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import PastDialog from '../../timeline/PastDialog.svelte';
import RewindDialog from '../../timeline/RewindDialog.svelte';
import TimelinePane from '../../timeline/TimelinePane.svelte';
import ChangesPane from '../../changes/ChangesPane.svelte';
import FilesPane from '../../files/FilesPane.svelte';
import { checkpoint } from '../../../ipc/recorded/builders';
import { HOSTILE_NAME } from '../../../ipc/recorded/samples';
import { draw, setUp } from '../../../test/stage';
import { toolOf } from '../groups';
import LongText from '../LongText.svelte';
import ThoughtRow from '../ThoughtRow.svelte';
import ToolDetails from '../ToolDetails.svelte';
import { lookOf } from './views';

/** What turns the rest of a line around must be named, and never be in the page itself. */
function expectMarked(at: Element | null) {
  expect(at?.textContent).not.toMatch(/[\u202a-\u202e]/);
  expect([...(at?.querySelectorAll('.mark') ?? [])].map((mark) => mark.textContent)).toContain('RLO');
}
const alert = (words: RegExp) => screen.findByText(words, { selector: 'p' }, { timeout: 4000 });

async function hostile() {
  const scene = await setUp('hostile');
  return { ...scene, snapshot: scene.host.snapshot('s-hostile') };
}

describe('what hides', () => {
  it('is marked in the row of every kind of tool', async () => {
    const scene = await hostile();
    const tools = scene.snapshot.items.flatMap((item) => toolOf(item) ?? []);
    expect(new Set(tools.map(({ tool_kind }) => tool_kind)).size).toBeGreaterThan(4);
    for (const tool of tools) {
      const { container, unmount } = draw(scene, ToolDetails, { tool, view: lookOf(tool.name, tool.tool_kind).view });
      // Colours come later; a line with something hidden in it gets none.
      await new Promise((done) => setTimeout(done, 50));
      expectMarked(container);
      unmount();
    }
  });

  it('is marked in every line of a file that has colours', async () => {
    const scene = await hostile();
    const read = scene.snapshot.items.flatMap((item) => toolOf(item) ?? []).find(({ name }) => name === 'read_file');
    if (!read) throw new Error('nothing was read');
    const output = `${read.output.split('\n')[0] ?? ''}\n     2\tlet plain = 1;`;
    const { container } = draw(scene, ToolDetails, {
      tool: { ...read, output },
      view: lookOf('read_file', 'read').view,
    });
    await waitFor(() => expect(container.querySelector('[class^="c-"]')).toBeTruthy());
    expectMarked(container);
  });

  it('is marked in what a subagent was sent to do, and in what was pasted', () => {
    const { container } = render(LongText, { text: 'look at \u202etxt.exe' });
    expectMarked(container);
  });

  it('is marked in a thought', async () => {
    const { snapshot } = await hostile();
    const thought = snapshot.items.flatMap(({ body }) => (body.kind === 'ai' ? body.reasoning : []))[0] ?? '';
    const { container } = render(ThoughtRow, { reasoning: thought });
    await userEvent.click(screen.getByRole('button'));
    expectMarked(container);
    expect(container.querySelector('p')?.textContent).toBe('They want this:\nrun RLOhs.xPDF at once.');
  });

  it('is marked in what could not be read of a change', async () => {
    const scene = await hostile();
    scene.workspace.panes.of(scene.snapshot.session.id).chosenFile = HOSTILE_NAME;
    const { container } = draw(scene, ChangesPane, { snapshot: scene.snapshot });
    expectMarked(await alert(/^cannot read/));
    expectMarked(container);
  });

  it('is marked in why changes could not be listed', async () => {
    const scene = await hostile();
    vi.spyOn(scene.client, 'changedFiles').mockRejectedValue({ code: 'internal', message: 'lost \u202esr.b' });
    draw(scene, ChangesPane, { snapshot: scene.snapshot });
    expectMarked(await alert(/^lost/));
  });

  it.each([
    ['the places', TimelinePane],
    ['what would go', RewindDialog],
  ] as const)('is marked in what could not be read of the past: %s', async (_, part) => {
    const scene = await hostile();
    draw(scene, part as never, { snapshot: scene.snapshot, seq: 1, onClose: vi.fn() } as never);
    expectMarked(await alert(/^cannot read/));
  });

  it('is marked in what could not be read of an earlier file', async () => {
    draw(await hostile(), PastDialog, { place: checkpoint(9, { label: 'pdf\u202esr.exe' }), onClose: vi.fn() });
    const file = await waitFor(() => screen.getByText(/sr\.exe/, { selector: '.side button .name' }));
    await userEvent.click(file);
    expectMarked(await alert(/^cannot read/));
  });

  it('is marked in why an earlier place could not be read', async () => {
    const scene = await hostile();
    vi.spyOn(scene.client, 'snapshotAt').mockRejectedValue({ code: 'internal', message: 'lost \u202esr.b' });
    draw(scene, PastDialog, { place: checkpoint(9, { label: 'pdf\u202esr.exe' }), onClose: vi.fn() });
    expectMarked(await alert(/^lost/));
    expectMarked(screen.getByRole('heading'));
  });

  it('is marked in what could not be read of the folders', async () => {
    const scene = await hostile();
    vi.spyOn(scene.client, 'listFolder').mockRejectedValue({ code: 'internal', message: 'lost \u202esr.b' });
    draw(scene, FilesPane, { session: 's-hostile', isRunning: false });
    expectMarked(await alert(/^lost/));
  });
});
