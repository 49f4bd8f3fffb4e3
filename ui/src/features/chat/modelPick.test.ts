import { describe, expect, it } from 'vitest';
import type { ModelChoice, ModelRef, ProviderView } from '../../ipc/bindings';
import { pick, type Listed } from './modelPick';

const provider = (id: string) => ({ id, label: id }) as ProviderView;
const choice = (provider: string, name: string) => ({ model: { provider, name } }) as ModelChoice;

/** `null`: still asked for. */
function lists(of: Record<string, string[] | null>): Listed[] {
  return Object.entries(of).map(([id, names]) => ({
    provider: provider(id),
    models: names?.map((name) => choice(id, name)) ?? null,
    failed: null,
  }));
}

const THREE = {
  anthropic: ['claude-opus-4-6', 'claude-sonnet-4-6'],
  openai: ['gpt-5.4-mini', 'gpt-5.4', 'gpt-5.4-nano'],
  router: ['openai/gpt-5.4', 'anthropic/claude-sonnet-4-6'],
};

type Case = [
  wanted: string,
  present: ModelRef | null,
  of: Record<string, string[] | null>,
  listed: string[],
  unlisted: string[],
];

describe('a name', () => {
  const claude = { provider: 'anthropic', name: 'claude-opus-4-6' };
  const cases: Case[] = [
    // Nothing yet: everything as it came.
    ['', claude, { b: ['two', 'one'], a: ['three'] }, ['b:two', 'b:one', 'a:three'], []],
    // The very name goes before what has it in it, and before the provider at hand.
    [
      'gpt-5.4',
      claude,
      THREE,
      ['openai:gpt-5.4', 'openai:gpt-5.4-mini', 'openai:gpt-5.4-nano', 'router:openai/gpt-5.4'],
      ['anthropic', 'router'],
    ],
    // Of two that list it, the one at hand.
    ['m', { provider: 'b', name: 'x' }, { a: ['m'], b: ['m'] }, ['b:m', 'a:m'], []],
    // In other letters it is meant all the same; the letters as they were typed may be another's.
    ['QWEN3:8b', null, { a: ['qwen3:8b-q4'], b: ['qwen3:8b'] }, ['b:qwen3:8b', 'a:qwen3:8b-q4'], ['a', 'b']],
    // Nobody lists it: whoever has models that begin like it.
    ['gpt-5.9', claude, THREE, [], ['openai', 'anthropic', 'router']],
    ['claude-next', { provider: 'openai', name: 'gpt-5.4' }, THREE, [], ['anthropic', 'openai', 'router']],
    // Nothing tells: the provider at hand.
    ['house-model', { provider: 'router', name: 'x' }, THREE, [], ['router', 'anthropic', 'openai']],
    // What begins alike by chance does not count.
    ['glm-5', { provider: 'b', name: 'x' }, { a: ['gl'], b: [] }, [], ['b', 'a']],
    // A provider without a list is known by the model that is in use.
    ['gpt-5.5', { provider: 'gate', name: 'gpt-5.4' }, { openai: ['gpt-5.4'], gate: null }, [], ['gate', 'openai']],
  ];
  it.each(cases)('%j with %o of %o', (wanted, present, of, listed, unlisted) => {
    const picked = pick(lists(of), wanted, present);
    const shown = picked.lists.flatMap(({ fits }) => fits.map(({ model }) => `${model.provider}:${model.name}`));
    expect([shown, picked.unlisted.map(({ id }) => id)]).toEqual([listed, unlisted]);
  });
});
