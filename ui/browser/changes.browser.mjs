/** What the agent changed, looked at and taken back. */
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { after, before, describe, test } from 'node:test';
import { button, calls, done, message } from './page.mjs';
import { open } from './site.mjs';

let site;
before(async () => (site = await open()));
after(() => site?.close());

// Each has a page and a storage of its own, so they may run side by side.
describe('changes', { concurrency: Math.min(3, availableParallelism()) }, () => {
  test('changes are walked with the keys, in one column or in two, and answer nothing', async () => {
    const page = await site.show({ tab: 'changes' });
    const region = (name) => page.getByRole('region', { name: `Changes to ${name}` }).last();
    await page.getByRole('button', { name: /clock\.rs/ }).click();
    await region('src/auth/clock.rs').locator('[data-hunk]').waitFor();
    await page.keyboard.press(']');
    assert.ok(await page.evaluate(() => document.activeElement.matches('[data-hunk]')));
    await page.keyboard.press('p');
    await region('src/auth/session.rs').locator('.pair, .line').first().waitFor();
    await button(page, 'Open with more room').click();
    const wide = page.getByRole('dialog', { name: 'Changes' });
    await wide.getByRole('button', { name: 'Before and after side by side' }).click();
    await wide.locator('.pair').first().waitFor();
    await page.keyboard.press('n');
    await page.keyboard.press('n');
    await page.keyboard.press('n');
    await region('CHANGELOG.md').locator('.pair').first().waitFor();
    await page.waitForTimeout(400);
    await page.keyboard.press('n');
    assert.deepEqual(await calls(page, 'decide'), []);
    await done(page);
  });

  test('something is said about a line of a change with the next message', async () => {
    const page = await site.show({ tab: 'changes' });
    await message(page).fill('Nice.');
    await page.getByRole('button', { name: /^CHANGELOG\.md/ }).click();
    await page.locator('.pick', { hasText: '10' }).click();
    const quoted = '@CHANGELOG.md:10\n> - Sleep no longer breaks the first call.\n';
    assert.equal(await message(page).inputValue(), `Nice.\n${quoted}`);
    await page.keyboard.type('Says too little.');
    assert.equal(await message(page).inputValue(), `Nice.\n${quoted}Says too little.`);
    await page.getByRole('button', { name: /^CHANGELOG\.md/ }).click();
    await page.keyboard.press(']');
    await page.keyboard.press('c');
    await page.waitForFunction(() =>
      document.querySelector('textarea').value.endsWith('@CHANGELOG.md:7\n> ## Unreleased\n'),
    );
    await page.locator('.removed .pick').click();
    await page.waitForFunction(() =>
      document.querySelector('textarea').value.endsWith('@CHANGELOG.md:9 (removed)\n> - Token refresh uses a timer.\n'),
    );
    await done(page);
  });

  test('what a finished session changed is kept from the dock, or looked at first', async () => {
    const page = await site.show({ tab: 'plan' });
    await page.getByRole('button', { name: /^Move fixtures to SQLite/ }).click();
    const dock = page.getByRole('region', { name: '2 files changed' });
    await dock.getByRole('button', { name: 'Review' }).click();
    await page.getByRole('button', { name: /^tests\/fixtures\/users\.sql/ }).waitFor();
    await page.getByRole('button', { name: /^tests\/support\/fixtures\.rs/ }).click();
    await page.getByRole('button', { name: 'Show 7 unchanged lines' }).first().click();
    await page.getByText('/// A table and its rows.').waitFor();
    await page.getByRole('button', { name: 'Show 7 unchanged lines' }).click();
    await page.getByText('/// How many rows it has.').waitFor();
    await dock.getByRole('button', { name: 'Keep all' }).click();
    await dock.waitFor({ state: 'detached' });
    assert.deepEqual(await calls(page, 'keepChanges'), [{ path: null, scope: 'session' }]);
    await page.locator('.badge.good').first().waitFor();
    await done(page);
  });

  test('changes are undone, one file or all of them', async () => {
    const page = await site.show({ tab: 'changes' });
    await page.getByRole('button', { name: /^src\/auth\/clock\.rs/ }).click();
    await button(page, 'Undo the changes to src/auth/clock.rs').click();
    await page.getByRole('button', { name: /^src\/auth\/clock\.rs/ }).waitFor({ state: 'detached' });
    assert.ok(await button(page, 'Undo all').isDisabled(), 'the agent is at work');

    await page.getByRole('button', { name: /^Move fixtures to SQLite/ }).click();
    const dock = page.getByRole('region', { name: '2 files changed' });
    await dock.getByRole('button', { name: 'Undo all' }).dblclick();
    await page.waitForTimeout(400);
    assert.deepEqual(await calls(page, 'undoChanges'), []);
    await dock.getByRole('button', { name: 'Put 2 files back?' }).click();
    await dock.waitFor({ state: 'detached' });
    assert.deepEqual(await calls(page, 'undoChanges'), [{ session: 's-fixtures', scope: 'session' }]);
    await done(page);
  });
});
