import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { details, report } from '../shared/faults';
import { told } from '../shared/problem';
import { setUp, type Scene } from '../test/stage';
import { logFaults, tellFaults } from './faults';

let scene: Scene;
let ends: (() => void)[] = [];
let time = 10_000;

beforeEach(async () => {
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  scene = await setUp();
  vi.spyOn(performance, 'now').mockImplementation(() => time);
  time += 100_000;
  ends = [logFaults(scene.client), tellFaults(scene.workspace)];
});
afterEach(() => {
  for (const end of ends) end();
  vi.restoreAllMocks();
});

const logged = () => scene.host.calls.filter(({ name }) => name === 'reportFault').map(({ value }) => value);
const said = () => scene.workspace.errors.map(({ code, message }) => `${code}: ${message}`);

/** As the browser tells of what nobody caught. */
const throws = (error: unknown, message = String(error)) =>
  window.dispatchEvent(new ErrorEvent('error', { error, message }));
function rejects(reason: unknown) {
  const event = new Event('unhandledrejection');
  window.dispatchEvent(Object.assign(event, { reason, promise: Promise.resolve() }));
}

describe('what nobody caught', () => {
  it('goes to the log, and is told to nobody who asked for nothing', () => {
    throws(new TypeError('x is undefined'));
    rejects(new RangeError('too deep'));
    const stack = expect.stringContaining('faults.test.ts');
    expect(logged()).toEqual([
      { place: 'window', message: 'TypeError: x is undefined', stack },
      { place: 'promise', message: 'RangeError: too deep', stack },
    ]);
    expect(said()).toEqual([]);
  });

  it('is told where it was thrown right after a person pressed something', () => {
    document.body.click();
    time += 200;
    throws(new TypeError('x is undefined'));
    expect(said()).toEqual([
      expect.stringMatching(/^internal: What you asked for may not have happened: x is undefined\. No work is lost\./),
    ]);
    scene.workspace.troubles.forget('internal');
    time += 5_000;
    throws(new TypeError('of something else'));
    expect(said()).toEqual([]);
  });

  it('is not what letters ask for that are written', () => {
    const box = document.body.appendChild(document.createElement('textarea'));
    box.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }));
    throws(new Error('meanwhile'));
    expect(said()).toEqual([]);
    box.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    throws(new Error('of it'));
    expect(said()).toHaveLength(1);
    box.remove();
  });

  it('is told in its own words where a request was refused', () => {
    rejects(told('not_found', { problem: 'session_gone' }));
    expect(said()).toHaveLength(1);
    expect(said()[0]).toMatch(/^not_found: /);
    expect(logged()).toHaveLength(1);
  });

  it('is not told again where it was told already', async () => {
    vi.spyOn(scene.client, 'stopTurn').mockRejectedValue(told('not_found', { problem: 'session_gone' }));
    await scene.workspace.run(() => scene.workspace.client.stopTurn('s'));
    expect(said()).toHaveLength(1);
    expect(logged()).toEqual([]);
  });

  it('is no fault where the browser only lays out once more', () => {
    throws(undefined, 'ResizeObserver loop completed with undelivered notifications.');
    expect(logged()).toEqual([]);
  });
});

describe('the log', () => {
  it('is not filled by a loop of faults, and hears of them again later', () => {
    for (let at = 0; at < 1_000; at++) report('row', new Error(`fault ${at}`));
    expect(logged()).toHaveLength(20);
    time += 60_000;
    report('row', new Error('later'));
    expect(logged()).toHaveLength(21);
  });

  it('gets no more of a text than it keeps, and anything that can be thrown', () => {
    report('row', new Error('x'.repeat(1 << 20)));
    for (const thrown of [undefined, null, 'words', 7, {}]) report('row', thrown);
    for (const value of logged() as Record<string, string>[])
      expect(
        [value.message?.length, value.stack?.length].every((length) => length !== undefined && length <= 8_000),
      ).toBe(true);
    expect(logged()).toHaveLength(6);
  });

  it('is silent where it cannot be written', async () => {
    vi.spyOn(scene.client, 'reportFault').mockRejectedValue(new Error('no way there'));
    report('row', new Error('first'));
    await Promise.resolve();
    expect(said()).toEqual([]);
  });
});

it('gives the message once, whether the engine begins its stack with it or not', () => {
  const error = new TypeError('x is undefined');
  error.stack = 'draw@tauri://localhost/a.js:1:2';
  expect(details('row', error)).toBe('Bosun · row\nTypeError: x is undefined\ndraw@tauri://localhost/a.js:1:2');
  error.stack = 'TypeError: x is undefined\n    at draw (a.js:1:2)';
  expect(details('row', error)).toBe('Bosun · row\nTypeError: x is undefined\n    at draw (a.js:1:2)');
});
