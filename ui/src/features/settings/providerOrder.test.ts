import { describe, expect, it } from 'vitest';
import { isUsable } from '../../app/usable';
import type { KeySource, ProviderView } from '../../ipc/bindings';
import { leading } from './providerOrder';

const missing: KeySource = { source: 'missing' };
const provider = (id: string, rest: Partial<ProviderView> = {}): ProviderView => ({
  id,
  label: id,
  family: 'openai_chat',
  base_url: `https://${id}/v1`,
  host: id,
  local: false,
  runs_itself: false,
  chosen: false,
  hands_on: [],
  handed_on: [],
  runs: [],
  key: missing,
  key_page: null,
  key_optional: false,
  custom: false,
  changed: false,
  headers: [],
  ...rest,
});

describe('the list of providers', () => {
  it('shows what can answer first and folds the rest', () => {
    const many = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((id) => provider(id));
    const keyed = provider('keyed', { key: { source: 'keyring' } });
    const own = provider('own', { custom: true });
    const tour = provider('tour', { family: 'tour' });
    const order = leading([...many, keyed, own, tour], [keyed]);
    expect(order.first.map(({ id }) => id)).toEqual(['keyed', 'own', 'a', 'b']);
    expect(order.rest.map(({ id }) => id)).toEqual(['c', 'd', 'e', 'f', 'g', 'h']);
  });

  it('has no fold for a few', () => {
    const few = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((id) => provider(id));
    expect(leading(few, []).rest).toEqual([]);
  });
});

describe('a provider that needs no key', () => {
  const ollama = provider('ollama', { local: true, key_optional: true });

  it('can be used once a server answered, or was chosen or set up by the person', () => {
    expect(isUsable(ollama, new Set())).toBe(false);
    expect(isUsable(ollama, new Set(['ollama']))).toBe(true);
    expect(isUsable({ ...ollama, custom: true }, new Set())).toBe(true);
    expect(isUsable({ ...ollama, key: { source: 'keyring' } }, new Set())).toBe(true);
  });

  it('is not confused with one that lacks its key', () => {
    expect(isUsable(provider('openai'), new Set(['openai']))).toBe(false);
    expect(
      isUsable(provider('locked', { key: { source: 'locked', why: { problem: 'keyring_is_locked' } } }), new Set()),
    ).toBe(false);
  });
});
