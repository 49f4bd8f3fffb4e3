import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import Errors from '../../app/Errors.svelte';
import { draw, setUp } from '../../test/stage';
import PermissionsSection from './PermissionsSection.svelte';

const patterns = (container: HTMLElement) => [...container.querySelectorAll('code')].map((one) => one.textContent);

describe('a rule that was removed', () => {
  it('is put back where it stood', async () => {
    const scene = await setUp();
    const { container } = draw(scene, PermissionsSection, {});
    draw(scene, Errors, {});
    await waitFor(() => expect(patterns(container).length).toBeGreaterThan(1));
    const before = patterns(container);
    const [remove] = screen.getAllByRole('button', { name: /^Remove the rule/ });
    if (!remove) throw new Error('no rule');
    await userEvent.click(remove);
    await waitFor(() => expect(patterns(container)).toEqual(before.slice(1)));
    expect(screen.getByRole('status').textContent).toContain('asks again');
    await userEvent.click(screen.getByRole('button', { name: 'Undo' }));
    await waitFor(() => expect(patterns(container)).toEqual(before));
    expect(scene.host.calls.map(({ name }) => name)).toEqual(['removeRule', 'restoreRule']);
  });
});
