/** What the tests do with a page. */
import assert from 'node:assert/strict';

/** What the page asked of its host that changes something. */
export const calls = (page, name) =>
  page.evaluate(
    (wanted) => window.recordedHost.calls.filter((one) => one.name === wanted).map((one) => one.value),
    name,
  );
export const button = (page, name) => page.getByRole('button', { name });
export const message = (page) => page.getByRole('textbox', { name: 'Message' });

/** Shuts a page in which nothing went wrong. */
export async function done(page) {
  assert.deepEqual(page.faults, []);
  await page.close();
}
