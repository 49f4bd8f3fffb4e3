import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { HEARD_MS, restCaret, RESTS_AFTER_MS, RESTS_AGAIN_MS } from './caret';

const client = { restCaret: vi.fn(async () => undefined) };
let field: HTMLTextAreaElement;
let end: () => void;

beforeEach(() => {
  vi.useFakeTimers();
  client.restCaret.mockClear();
  vi.spyOn(document, 'hasFocus').mockReturnValue(true);
  document.body.innerHTML = '<textarea></textarea><button>Send</button>';
  field = at('textarea');
  end = restCaret(client);
  field.focus();
});
afterEach(() => {
  end();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function at<Name extends 'textarea' | 'button'>(name: Name): HTMLElementTagNameMap[Name] {
  const found = document.querySelector(name);
  if (!found) throw new Error(`there is no ${name}`);
  return found;
}

const press = () => field.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }));

test('a caret begins anew, at rest, some seconds after the last key', async () => {
  await vi.advanceTimersByTimeAsync(RESTS_AFTER_MS - 1);
  press();
  await vi.advanceTimersByTimeAsync(RESTS_AFTER_MS - 1);
  expect(client.restCaret).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(client.restCaret).toHaveBeenCalledOnce();
  expect(field.style.left).toBe('');
  await vi.advanceTimersByTimeAsync(HEARD_MS);
  expect(field.style.left).toBe('0.02px');
  await vi.advanceTimersByTimeAsync(RESTS_AGAIN_MS + HEARD_MS);
  expect(client.restCaret).toHaveBeenCalledTimes(2);
  expect(field.style.left).toBe('');
  expect(field.style.position).toBe('');
});

test('a key that comes before it stands keeps it blinking', async () => {
  await vi.advanceTimersByTimeAsync(RESTS_AFTER_MS);
  press();
  await vi.advanceTimersByTimeAsync(HEARD_MS);
  expect(field.style.left).toBe('');
});

test('who leaves the field leaves it as it was', async () => {
  await vi.advanceTimersByTimeAsync(RESTS_AFTER_MS + HEARD_MS);
  expect(field.style.left).toBe('0.02px');
  at('button').focus();
  expect(field.getAttribute('style') ?? '').toBe('');
});

test('where no caret is nothing is asked for', async () => {
  at('button').focus();
  await vi.advanceTimersByTimeAsync(RESTS_AFTER_MS * 2);
  expect(client.restCaret).not.toHaveBeenCalled();
  field.focus();
  vi.mocked(document.hasFocus).mockReturnValue(false);
  await vi.advanceTimersByTimeAsync(RESTS_AFTER_MS * 2);
  expect(client.restCaret).not.toHaveBeenCalled();
});
