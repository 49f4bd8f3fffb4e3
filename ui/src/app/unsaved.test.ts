import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import type { Component } from 'svelte';
import { expect, it, vi } from 'vitest';
import MemoriesDialog from '../features/memories/MemoriesDialog.svelte';
import AdditionsSection from '../features/settings/AdditionsSection.svelte';
import HooksSection from '../features/settings/HooksSection.svelte';
import ServersSection from '../features/settings/ServersSection.svelte';
import SubagentsSection from '../features/settings/SubagentsSection.svelte';
import SkillsDialog from '../features/skills/SkillsDialog.svelte';
import { draw, setUp } from '../test/stage';

const press = async (name: RegExp) => {
  const [first] = await screen.findAllByRole('button', { name });
  if (!first) throw new Error(`no ${name}`);
  await userEvent.click(first);
};

/** An editor by how it is opened, and the field that is changed in it. */
const EDITORS: Record<string, { part: Component<never>; open: RegExp[]; field: RegExp | string; isNoted?: boolean }> = {
  memory: { part: MemoriesDialog, open: [/formatting|AGENTS|house/i], field: /^Text of/ },
  skill: { part: SkillsDialog, open: [], field: /^Text of/ },
  'new skill': { part: SkillsDialog, open: [/^New skill/], field: /^Name/ },
  server: { part: ServersSection, open: [/^Edit wiki/], field: 'Name' },
  'new server': { part: ServersSection, open: [/^Add server/], field: 'Name' },
  hook: { part: HooksSection, open: [/^Edit /], field: 'Name' },
  subagent: { part: SubagentsSection, open: [/^New subagent/], field: 'Name' },
  settings: { part: AdditionsSection, open: [], field: /./ },
};

it.each(Object.keys(EDITORS))('keeps what was changed in an editor and not saved: %s', async (name) => {
  const editor = EDITORS[name];
  if (!editor) throw new Error(name);
  const scene = await setUp();
  const show = async () => {
    const { unmount } = draw(scene, editor.part as Component, { onClose: vi.fn() });
    for (const button of editor.open) await press(button);
    const field = await screen.findByRole<HTMLInputElement>('textbox', { name: editor.field });
    await waitFor(() => expect(field.disabled).toBe(false));
    return { unmount, field };
  };
  const first = await show();
  const begun = first.field.value;
  await userEvent.type(first.field, 'half a thought');
  await first.unmount();
  expect(scene.workspace.notes.current?.text).toContain('not saved');
  const again = await show();
  await waitFor(() => expect(again.field.value).toBe(`${begun}half a thought`));
  // Who puts it back as it was has nothing unsaved.
  scene.workspace.notes.dismiss();
  await userEvent.clear(again.field);
  if (begun) await userEvent.type(again.field, begun.replace(/[[{]/g, '$&$&'));
  await again.unmount();
  expect(scene.workspace.notes.current).toBeNull();
});
