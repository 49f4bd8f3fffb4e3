import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import type { RuleDraft, RuleOffer } from '../../ipc/bindings';
import type { UiClient } from '../../ipc/client';
import { approval } from '../../ipc/recorded/builders';
import ScopeStage from './ScopeStage.test.svelte';

const COMMAND = approval(
  'execute',
  { command: 'cargo test -p auth' },
  { preview: { preview: 'command', command: 'cargo test -p auth', folder: '/', timeout_seconds: null } },
);
const OFFER: RuleOffer = { offer: 'patterns', kind: 'command', patterns: ['cargo test *', 'cargo test -p auth'] };
const CALM = {
  problem: null,
  asked: 40,
  answered: 12,
  passing: ['cargo test -q'],
  asking: ['cargo build'],
  would_pass: [],
  would_ask: [],
};

function show(offer: RuleOffer) {
  const tried: RuleDraft[] = [];
  const made: (RuleDraft | null | undefined)[] = [];
  const client = {
    ruleOffer: vi.fn(async () => offer),
    rehearseRule: vi.fn(async (draft: RuleDraft) => {
      tried.push(draft);
      const problem = draft.pattern === '*' ? ({ problem: 'everything' } as const) : null;
      return { ...CALM, problem };
    }),
  } as unknown as UiClient;
  render(ScopeStage, {
    client,
    approval: COMMAND,
    onDraft: (draft: RuleDraft | null | undefined) => void made.push(draft),
    onClose: () => undefined,
  });
  return { tried, made, user: userEvent.setup() };
}

describe('the scope of an approval', () => {
  it('is tried on past requests before it can be kept', async () => {
    const { tried, made, user } = show(OFFER);
    await user.click(await screen.findByRole('radio', { name: 'This session' }));
    expect(made.at(-1)).toBeUndefined();
    expect(await screen.findByText('Would have answered 12 of 40 past requests.')).toBeTruthy();
    expect(tried).toEqual([
      { session: COMMAND.session, call_id: COMMAND.call_id, scope: 'session', pattern: 'cargo test *' },
    ]);
    expect(made.at(-1)).toEqual(tried[0]);
    expect(screen.getByText('cargo build')).toBeTruthy();
  });

  it('cannot be kept while its pattern is no good', async () => {
    const { made, user } = show(OFFER);
    await user.click(await screen.findByRole('radio', { name: 'Always' }));
    const field = await screen.findByRole('textbox', { name: 'Commands that pass' });
    await user.clear(field);
    await user.type(field, '*');
    expect(await screen.findByText('This would cover every command. Name one.')).toBeTruthy();
    expect(made.at(-1)).toBeUndefined();
    await user.click(screen.getByRole('radio', { name: 'Once' }));
    expect(made.at(-1)).toBeNull();
  });

  it('is not offered where no rule may pass, and says why', async () => {
    show({ offer: 'none', guard: { guard: 'destructive', command: 'rm -rf target' } });
    expect(await screen.findByText(/“rm -rf target” destroys what cannot be recovered/)).toBeTruthy();
    expect(screen.queryByRole('radio')).toBeNull();
  });
});
