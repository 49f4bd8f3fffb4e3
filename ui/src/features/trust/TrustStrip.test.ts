import { screen, waitFor } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import type { ProjectTrust } from '../../ipc/bindings';
import { draw, setUp } from '../../test/stage';
import TrustStrip from './TrustStrip.svelte';

const waiting: ProjectTrust = {
  items: [
    {
      kind: 'instructions',
      name: 'AGENTS.md',
      state: 'changed',
      files: [{ path: '/AGENTS.md', state: 'changed', hash: 'a', size: 1 }],
      effects: [],
      problem: null,
    },
  ],
  undecided: 1,
};

it('shows what the last look found, also where an earlier one is answered after it', async () => {
  const scene = await setUp();
  const answers: ((found: ProjectTrust) => void)[] = [];
  const asked = vi.spyOn(scene.workspace.client, 'projectTrust');
  asked.mockImplementation(() => new Promise((answer) => answers.push(answer)));
  draw(scene, TrustStrip, {});
  await waitFor(() => expect(answers.length).toBe(1));
  window.dispatchEvent(new Event('focus'));
  await waitFor(() => expect(answers.length).toBe(2));
  answers[1]?.({ items: [], undecided: 0 });
  answers[0]?.(waiting);
  await new Promise((done) => setTimeout(done, 20));
  expect(screen.queryByRole('status')).toBeNull();
  window.dispatchEvent(new Event('focus'));
  answers[2]?.(waiting);
  expect((await screen.findByRole('status')).textContent).toContain('changed since you trusted it');
});
