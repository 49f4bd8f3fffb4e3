import { describe, expect, it } from 'vitest';
import { en } from '../../shared/i18n/en';
import type { ProviderView } from '../../ipc/bindings';
import { isHandedOn, whereTo } from './providerWords';

const server = (local: boolean, hands_on: string[]) =>
  ({ host: 'localhost:1', local, runs_itself: local, hands_on }) as ProviderView;

describe('where requests go', () => {
  it('is told of a server, and of those of its models that it hands on', () => {
    const ollama = server(true, [':cloud', '-cloud']);
    expect(whereTo(en, ollama)).toBe(en.local.staysAt('localhost:1'));
    expect(whereTo(en, ollama, 'qwen3:8b')).toBe(en.local.staysAt('localhost:1'));
    expect(whereTo(en, ollama, 'gpt-oss:120b-cloud')).toBe(en.local.handedOnAt('localhost:1'));
    expect(whereTo(en, server(true, ['']))).toBe(en.local.handedOnAt('localhost:1'));
    expect(whereTo(en, server(false, []), 'a-cloud')).toBe(en.local.goesTo('localhost:1'));
    // Who it is was not said, whatever port it answers at.
    expect(whereTo(en, { ...ollama, runs_itself: false }, 'qwen3:8b')).toBe(en.local.goesToHere('localhost:1'));
    expect(isHandedOn(ollama, 'cloudy')).toBe(false);
  });
});
