import { describe, expect, it } from 'vitest';
import { hostOf, isPlain } from './address';

describe('an address', () => {
  it.each([
    ['https://api.anthropic.com/', 'api.anthropic.com'],
    ['https://api.anthropic.com:443/v1', 'api.anthropic.com'],
    // So that a key entered for the one is not sent in the clear to the other.
    ['http://api.anthropic.com', 'api.anthropic.com:80'],
    [' https://API.OpenAI.com/v1/ ', 'api.openai.com'],
    ['http://localhost:11434', 'localhost:11434'],
    ['http://[::1]:8080/v1', '[::1]:8080'],
    ['gate.example/v1', null],
    ['localhost:8080', null],
    ['ftp://gate.example', null],
    ['', null],
  ])('%j is bound to %j', (url, host) => expect(hostOf(url)).toBe(host));

  it.each([
    ['http://10.0.0.7:8000/v1', true],
    ['http://gate.example', true],
    ['http://127.0.0.1.evil.example', true],
    ['http://localhost.evil.example', true],
    ['https://gate.example', false],
    ['http://localhost:11434', false],
    ['http://models.localhost', false],
    ['http://127.0.0.1:8080', false],
    ['http://127.1:8080', false],
    ['http://[::1]:8080', false],
    ['http://[::]:8080', false],
    ['http://[::ffff:127.0.0.1]:8080', false],
    ['http://[::ffff:10.0.0.7]:8080', true],
    ['http://0.0.0.0:8000/v1', false],
    ['http://localhost.:8080', false],
    ['gate.example', false],
  ])('%j can be read on the way: %j', (url, plain) => expect(isPlain(url)).toBe(plain));
});
