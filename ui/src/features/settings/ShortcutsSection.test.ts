import { fireEvent, screen, waitFor, within } from '@testing-library/svelte';
import { describe, expect, it } from 'vitest';
import { draw, setUp } from '../../test/stage';
import ShortcutsSection from './ShortcutsSection.svelte';

async function changing(command: string) {
  const scene = await setUp();
  draw(scene, ShortcutsSection, {});
  await fireEvent.click(screen.getByRole('button', { name: `Change the shortcut for “${command}”` }));
  const row = screen.getByText('Press the keys…').closest('li');
  if (!row) throw new Error('no row');
  const press = (key: string, code: string, given: KeyboardEventInit = {}) =>
    fireEvent.keyDown(window, { key, code, ctrlKey: true, ...given });
  return { press, row, problem: () => screen.getByRole('alert').textContent };
}

describe('keys that a command is given', () => {
  it('are called by what stands on every keyboard', async () => {
    const { press, row } = await changing('Everything waiting for you');
    await press('ш', 'KeyI');
    await waitFor(() => within(row).getByText('Ctrl I'));
  });

  it('are another’s also where the layout has another sign on them', async () => {
    const { press, problem } = await changing('Everything waiting for you');
    await press('т', 'KeyN');
    expect(problem()).toBe('Ctrl N is taken by “New session”.');
    await press('/', 'Digit7', { shiftKey: true });
    expect(problem()).toBe('Ctrl / is taken by “Keyboard shortcuts”.');
    await press('с', 'KeyC');
    expect(problem()).toContain('Ctrl C is reserved.');
    await press('é', 'Digit2');
    expect(problem()).toContain('Ctrl 2 is reserved.');
  });

  it('are no keys of an input method, and no accent alone', async () => {
    const { press, row, problem } = await changing('Everything waiting for you');
    await press('Process', 'KeyI');
    await press('Dead', 'Equal');
    await press('AltGraph', 'AltRight');
    expect(problem()).toBe('');
    within(row).getByText('Press the keys…');
  });
});
