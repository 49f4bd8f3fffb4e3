import { beforeEach, expect, it, vi } from 'vitest';
import { Drafts } from './drafts.svelte';

beforeEach(() => vi.useFakeTimers());

it('are there again after a restart, until they are sent', () => {
  const first = new Drafts();
  first.write('s1', 'half a thought');
  first.write('s2', 'another');
  vi.advanceTimersByTime(1_000);
  const second = new Drafts();
  expect([second.of('s1'), second.of('s2'), second.of('s3')]).toEqual(['half a thought', 'another', '']);
  second.write('s1', '');
  vi.advanceTimersByTime(1_000);
  expect(new Drafts().of('s1')).toBe('');
});

it('are kept while somebody types without a pause, and the newest where storage is full', () => {
  const drafts = new Drafts();
  for (const text of ['one', 'one two', 'one two three']) {
    drafts.write('s1', text);
    vi.advanceTimersByTime(200);
  }
  expect(new Drafts().of('s1')).toBe('one two');
  const set = vi.spyOn(Storage.prototype, 'setItem').mockImplementation(function (this: Storage, key, value) {
    if (value.length > 60) throw new DOMException('full', 'QuotaExceededError');
    this[key] = value;
  });
  drafts.write('old', 'x'.repeat(30));
  drafts.write('new', 'y'.repeat(30));
  vi.advanceTimersByTime(1_000);
  set.mockRestore();
  expect([new Drafts().of('old'), new Drafts().of('new')]).toEqual(['', 'y'.repeat(30)]);
});

it('stay as they were stored where storage fails, which is said once, and are stored when it works again', () => {
  const unkept = vi.fn();
  const drafts = new Drafts(unkept);
  const write = (key: string, text: string) => {
    drafts.write(key, text);
    vi.advanceTimersByTime(1_000);
  };
  write('s1', 'one');
  write('s2', 'two');
  const set = vi.spyOn(Storage.prototype, 'setItem').mockImplementationOnce(() => {
    throw new DOMException('not now', 'InvalidStateError');
  });
  write('s2', 'two and more');
  expect([set.mock.calls.length, new Drafts().of('s1'), new Drafts().of('s2')]).toEqual([1, 'one', 'two']);
  write('s3', 'three');
  expect(['s1', 's2', 's3'].map((key) => new Drafts().of(key))).toEqual(['one', 'two and more', 'three']);
  set.mockImplementation(() => {
    throw new DOMException('full', 'QuotaExceededError');
  });
  write('s3', 'three and more');
  set.mockRestore();
  expect([unkept.mock.calls.length, new Drafts().of('s3')]).toEqual([1, 'three']);
});

it('are kept when the page goes, however short ago they were typed', () => {
  new Drafts().write('s1', 'half a tho');
  expect(localStorage.getItem('bosun.drafts') ?? '').not.toContain('half');
  window.dispatchEvent(new Event('pagehide'));
  expect(new Drafts().of('s1')).toBe('half a tho');
});

it('are as many as storage is for, the newest, and nothing that is no draft', () => {
  const drafts = new Drafts();
  for (let at = 0; at < 60; at++) drafts.write(`s${at}`, 'text');
  drafts.write('long', 'x'.repeat(100_001));
  drafts.write('s0', 'touched again');
  vi.advanceTimersByTime(1_000);
  const kept = new Drafts();
  expect([kept.of('s0'), kept.of('s5'), kept.of('s59'), kept.of('long')]).toEqual(['touched again', '', 'text', '']);
  expect(drafts.of('long')).toHaveLength(100_001);
  for (const bad of ['[1]', '{"s1": 7}', 'nonsense']) {
    localStorage.setItem('bosun.drafts', bad);
    expect(new Drafts().of('s1')).toBe('');
  }
});

it('of what is gone are gone at once, and so is what was taken', () => {
  const drafts = new Drafts();
  for (const key of ['s1', 's2', 'new:p1', 'new:p2']) drafts.write(key, key);
  drafts.keep();
  drafts.forget('s1');
  drafts.forget('nobody');
  expect([new Drafts().of('s1'), new Drafts().of('s2')]).toEqual(['', 's2']);
  drafts.keepOnly(['s2', 'new:p1']);
  expect([new Drafts().of('s2'), new Drafts().of('new:p1'), new Drafts().of('new:p2')]).toEqual(['s2', 'new:p1', '']);
  drafts.write('s2', '');
  drafts.keep();
  expect(new Drafts().of('s2')).toBe('');
});
