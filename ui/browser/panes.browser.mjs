/** The side pane: what is done in it for the conversation is seen there, and it comes back as it was left. */
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { after, before, describe, test } from 'node:test';
import { button, done, message } from './page.mjs';
import { open } from './site.mjs';

let site;
before(async () => (site = await open()));
after(() => site?.close());

/** Here it lies over the conversation. */
const SMALL = { width: 1024, height: 700 };
const drawer = (page) => page.locator('.right.drawer');
const tab = (page, name) => page.getByRole('tab', { name });
const isGone = (page) => drawer(page).waitFor({ state: 'detached' });
/** What is typed now goes into the message. */
const isWriting = (page) => page.locator('.composer textarea:focus').waitFor();

async function show(page, name) {
  await button(page, 'Show the side pane').click();
  await tab(page, name).click();
}

// Each has a page and a storage of its own, so they may run side by side.
describe('the side pane', { concurrency: Math.min(3, availableParallelism()) }, () => {
  test('a comment on a line leaves the drawer for the message', async () => {
    const page = await site.show({}, SMALL);
    await message(page).fill('Nice.');
    await show(page, /^Changes/);
    await page.getByRole('button', { name: /^CHANGELOG\.md/ }).click();
    await page.locator('.pick', { hasText: '10' }).click();
    await isGone(page);
    await isWriting(page);
    await page.keyboard.type('says too little');
    assert.equal(
      await message(page).inputValue(),
      'Nice.\n@CHANGELOG.md:10\n> - Sleep no longer breaks the first call.\nsays too little',
    );
    // The same from where there is more room.
    await show(page, /^Changes/);
    await button(page, 'Open with more room').click();
    const wide = page.getByRole('dialog', { name: 'Changes' });
    await wide.getByRole('button', { name: /^CHANGELOG\.md/ }).click();
    await wide.locator('.pick', { hasText: '10' }).click();
    await isGone(page);
    await isWriting(page);
    await page.keyboard.type('too');
    assert.ok((await message(page).inputValue()).endsWith('\n> - Sleep no longer breaks the first call.\ntoo'));
    await done(page);
  });

  test('a file that is mentioned leaves the drawer for the message', async () => {
    const page = await site.show({ recorded: 'tools' }, SMALL);
    await show(page, /^Files/);
    await page.getByRole('treeitem', { name: /Cargo\.toml/ }).click();
    await button(page, 'Mention in the message').click();
    await isGone(page);
    await isWriting(page);
    await page.keyboard.type('is old');
    assert.equal(await message(page).inputValue(), '@Cargo.toml is old');
    await done(page);
  });

  test('a todo that is chosen leaves the drawer for what was done for it', async () => {
    const page = await site.show({ recorded: 'tools' }, SMALL);
    await page.evaluate(() => {
      const [{ id }] = window.recordedHost.summaries();
      const todos = [{ id: 't', content: 'Look around', status: 'in_progress' }];
      window.recordedHost.emit(id, { type: 'todos_replaced', todos });
    });
    await show(page, /^Plan/);
    await drawer(page).getByRole('button', { name: 'Look around', exact: true }).click();
    await isGone(page);
    await isWriting(page);
    await page.getByText(/^Only what was done for/).waitFor();
    await show(page, /^Plan/);
    await button(page, 'Open as a board').click();
    await page.getByRole('dialog', { name: 'Plan' }).locator('.open[aria-pressed=true]').click();
    await isGone(page);
    await isWriting(page);
    await page.getByText(/^Only what was done for/).waitFor({ state: 'detached' });
    await done(page);
  });

  test('where something waits for an answer, a todo that is chosen makes its keys no text', async () => {
    const page = await site.show({}, SMALL);
    await show(page, /^Plan/);
    await drawer(page).locator('.open').first().click();
    await isGone(page);
    await page.getByText(/^Only what was done for/).waitFor();
    assert.ok(!(await page.evaluate(() => document.activeElement.matches('textarea'))));
    await done(page);
  });

  test('what is asked for by its keys is not under the drawer', async () => {
    const page = await site.show({ recorded: 'tools' }, SMALL);
    await show(page, /^Plan/);
    await page.keyboard.press('Control+f');
    await page.locator('.find input:focus').waitFor();
    await isGone(page);
    await page.keyboard.press('Escape');
    await show(page, /^Plan/);
    await page.keyboard.press('Control+n');
    await isGone(page);
    await isWriting(page);
    await page.keyboard.type('Anew');
    assert.equal(await message(page).inputValue(), 'Anew');
    await done(page);
  });

  test('panes and sessions come back as they were left', async () => {
    const page = await site.show({}, { width: 1440, height: 600 });
    const row = (name) => page.getByRole('treeitem', { name: new RegExp(`^${name}`) });
    await tab(page, /^Files/).click();
    await row('src').click();
    await row('auth').click();
    await row('clock').click();
    const look = page.getByRole('region', { name: 'Preview of src/auth/clock.rs' });
    await look.locator('.line').first().waitFor();
    await tab(page, /^Agents/).click();
    await page.getByRole('treeitem', { name: /tower-retry/ }).click();
    await tab(page, /^Plan/).click();
    await page.getByRole('button', { name: 'List the clock fakes already in the tests', exact: true }).click();
    await page.getByText(/^Only what was done for/).waitFor();
    await tab(page, /^Changes/).click();
    await page.getByText('Last turn').click();
    await page.getByRole('button', { name: /^CHANGELOG\.md/ }).click();
    const change = page.getByRole('region', { name: 'Changes to CHANGELOG.md' });
    await change.locator('.line').first().waitFor();
    const pane = page.locator('.pane:not([hidden])');
    await pane.hover();
    await page.mouse.wheel(0, 120);
    await page.waitForFunction(() => document.querySelector('.pane:not([hidden])').scrollTop > 0);
    await page.waitForTimeout(300);
    const top = await pane.evaluate((one) => one.scrollTop);

    await page.getByRole('button', { name: /^Move fixtures to SQLite/ }).click();
    await page.getByText(/^Only what was done for/).waitFor({ state: 'detached' });
    assert.equal(await pane.evaluate((one) => one.scrollTop), 0);
    await tab(page, /^Files/).click();
    await row('src').waitFor();
    assert.equal(await row('auth').count(), 0);

    await page.getByRole('button', { name: /^Token refresh fails after sl/ }).click();
    await page.getByText(/^Only what was done for/).waitFor();
    await look.locator('.line').first().waitFor();
    await row('clock').waitFor();
    await tab(page, /^Agents/).click();
    await page.getByRole('treeitem', { name: /tower-retry/, selected: true }).waitFor();
    await tab(page, /^Changes/).click();
    await change.locator('.line').first().waitFor();
    await page.waitForFunction((was) => {
      const { scrollTop } = document.querySelector('.pane:not([hidden])');
      return Math.abs(scrollTop - was) <= 2;
    }, top);
    await done(page);
  });
});
