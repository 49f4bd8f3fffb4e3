import { describe, expect, it } from 'vitest';
import { en } from '../../shared/i18n/en';
import type { ProviderFamily, ProviderView } from '../../ipc/bindings';
import { isHandedOn, whereTo } from './providerWords';

const CLOUD = [':cloud', '-cloud'];

const server = (family: ProviderFamily, said: Partial<ProviderView> = {}) =>
  ({
    host: 'localhost:1',
    local: true,
    family,
    runs_itself: family === 'ollama',
    hands_on: CLOUD,
    handed_on: [],
    runs: [],
    ...said,
  }) as unknown as ProviderView;

describe('where requests go', () => {
  const stays = en.local.staysAt('localhost:1');
  const handedOn = en.local.handedOnAt('localhost:1');
  const unknown = en.local.goesToHere('localhost:1');

  it('is told of a server, and of those of its models that it hands on', () => {
    const ollama = server('ollama');
    expect(whereTo(en, ollama)).toBe(stays);
    expect(whereTo(en, ollama, 'qwen3:8b')).toBe(stays);
    expect(whereTo(en, ollama, 'gpt-oss:120b-cloud')).toBe(handedOn);
    expect(whereTo(en, server('openai_chat', { hands_on: [''] }))).toBe(handedOn);
    expect(whereTo(en, server('ollama', { local: false, hands_on: [] }), 'a-cloud')).toBe(
      en.local.goesTo('localhost:1'),
    );
    // Who it is was not said, whatever port it answers at.
    expect(whereTo(en, server('openai_chat'))).toBe(unknown);
    expect(isHandedOn(ollama, 'cloudy')).toBe(false);
  });

  // The table of `crates/providers/src/listed.rs`: who runs a model is the same for its price and for what is said.
  it.each<[ProviderFamily, Partial<ProviderView>, string, string]>([
    ['ollama', { handed_on: ['mine'] }, 'mine', handedOn],
    ['ollama', { handed_on: ['mine'] }, 'not-mine', stays],
    ['ollama', {}, 'gpt-oss:120b-CLOUD', handedOn],
    ['ollama', {}, 'cloudy', stays],
    ['openai_chat', { runs: ['fog-cloud'], runs_itself: true }, 'fog-cloud', stays],
    ['openai_chat', { runs: ['mine'], runs_itself: true }, 'not-mine', unknown],
    ['openai_chat', { hands_on: [''], runs: ['mine'] }, 'mine', stays],
    ['openai_chat', { hands_on: [''], runs: ['mine'] }, 'not-mine', handedOn],
  ])('of %s %o: %s', (family, said, model, words) => {
    expect(whereTo(en, server(family, said), model)).toBe(words);
  });
});
