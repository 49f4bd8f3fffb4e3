import { render, screen, within } from '@testing-library/svelte';
import { describe, expect, it, vi } from 'vitest';
import type { Todo } from '../../ipc/bindings';
import Ring from '../../shared/ui/icons/Ring.svelte';
import type { Evidence } from './evidence';
import TodoCard from './TodoCard.svelte';

const TODO: Todo = { id: 't1', content: 'Add a clock', status: 'completed' };
const PROOF: Evidence = {
  todo: 't1',
  calls: 3,
  failed: 0,
  files: ['/src/clock.rs', '/src/\u202egpj.rs'],
  file_count: 5,
  added: 4,
  removed: 1,
  agents: [],
  ran_ms: 0,
  input_tokens: 0,
  output_tokens: 0,
  cost: null,
  isWaiting: false,
  rows: [],
};
const given = { todo: TODO, icon: Ring, evidence: PROOF, isChosen: false, onChoose: vi.fn() };

describe('a todo', () => {
  it('lists the files that were changed for it where there is room', () => {
    render(TodoCard, { ...given, isWide: true });
    const files = within(screen.getByRole('list', { name: 'Changed files' })).getAllByRole('listitem');
    const read = files.map((file) => (file.querySelector('.sr-only') ?? file).textContent?.trim());
    expect(read).toEqual(['src/clock.rs', 'src/RLOgpj.rs', '+3 files']);
  });

  it('names one of them in the pane, and shows what its name hides', () => {
    render(TodoCard, { ...given, evidence: { ...PROOF, files: ['/src/\u202egpj.rs'], file_count: 1 } });
    expect(screen.queryByRole('list', { name: 'Changed files' })).toBeNull();
    // Once for the eye, once for the ear.
    expect(screen.getAllByText('RLO')).toHaveLength(2);
  });
});
