/** The timeline, going back, and summing up. */
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { after, before, describe, test } from 'node:test';
import { calls, done, message } from './page.mjs';
import { open } from './site.mjs';

let site;
before(async () => (site = await open()));
after(() => site?.close());

// Each has a page and a storage of its own, so they may run side by side.
describe('past', { concurrency: Math.min(3, availableParallelism()) }, () => {
  test('a place of the timeline is looked at, gone back to, and that is undone', async () => {
    const page = await site.show({ tab: 'timeline' });
    await page.getByRole('button', { name: /^Move fixtures to SQLite/ }).click();
    await page
      .getByRole('button', { name: /^Edited tests\/support\/fixtures\.rs/ })
      .first()
      .waitFor();
    await page.locator('.place').filter({ hasText: 'Wrote tests/fixtures/users.sql' }).click();
    const past = page.getByRole('dialog', { name: 'As it was · After “Wrote tests/fixtures/users.sql”' });
    await past.getByRole('button', { name: /^Wrote tests\/fixtures\/users\.sql/ }).waitFor();
    assert.equal(await past.getByRole('button', { name: /^Edited/ }).count(), 0);
    await past.getByRole('button', { name: /fixtures\.rs/ }).click();
    await past.getByText('// /tests/support/fixtures.rs, as it was').waitFor();
    await page.keyboard.press('Alt+ArrowRight');
    const later = page.getByRole('dialog', { name: 'As it was · After “Edited tests/support/fixtures.rs”' });
    await later.getByText('// /tests/support/fixtures.rs, as it was').waitFor();
    await later.getByRole('button', { name: 'Earlier checkpoint', disabled: false }).click();
    await past.getByRole('button', { name: 'Rewind to here…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Rewind · After “Wrote tests/fixtures/users.sql”' });
    await dialog.getByText('2 rows of the conversation would be removed.').waitFor();
    const go = dialog.getByRole('button', { name: 'Rewind', exact: true });
    await dialog.getByText(/^'\/?tests\/fixtures\/users\.sql' has been changed since/).waitFor();
    assert.ok(await go.isDisabled(), 'what the core would refuse is not offered');
    const stays = dialog.getByRole('listitem').filter({ hasText: 'users.sqlite' });
    await stays.getByText('stays as it is', { exact: true }).waitFor();
    const fixtures = dialog.getByRole('button', { name: /^tests\/support\/fixtures\.rs/ });
    await fixtures.click();
    await dialog.getByText('let then = 0;').waitFor();
    await fixtures.click();
    await dialog.getByRole('button', { name: 'Leave it, rewind the other 1' }).click();
    await go.click();
    await dialog.waitFor({ state: 'detached' });
    assert.deepEqual(await calls(page, 'rewind'), [
      { session: 's-fixtures', seq: 2, what: 'both', leave: ['/tests/fixtures/users.sql'] },
    ]);
    const edited = page.getByRole('main').getByRole('button', { name: /^Edited/ });
    await edited.waitFor({ state: 'detached' });
    await page.locator('.note').getByRole('button', { name: 'Undo' }).click();
    await edited.waitFor();
    await done(page);
  });

  test('a decision leads to its row in the conversation, and to the file that it changed', async () => {
    const page = await site.show({ recorded: 'tools', tab: 'timeline' });
    await page.getByText('Decisions', { exact: true }).click();
    const edited = page
      .locator('.pane li')
      .filter({ hasText: /^Edited/ })
      .first();
    await edited.getByRole('button', { expanded: false }).click();
    await edited.getByRole('button', { name: 'Show in conversation' }).click();
    const found = page.locator('main .tool.found');
    await found.waitFor();
    assert.match(await found.innerText(), /^Edited/);
    await edited.locator('.ways button').nth(1).click();
    await page.getByRole('tab', { name: /^(Changes|Files)/, selected: true }).waitFor();
    await done(page);
  });

  test('of a long session the timeline and what was earlier come by page', async () => {
    const page = await site.show({ recorded: 'long', tab: 'timeline' });
    const places = page.locator('.place');
    await places.first().waitFor();
    assert.equal(await places.count(), 100);
    const first = await places.first().textContent();
    const pane = page.getByRole('tabpanel', { name: 'Timeline' });
    await pane.getByRole('button', { name: /^Show .* earlier/ }).click();
    await page.waitForFunction(() => document.querySelectorAll('.place').length === 200);
    assert.equal(await places.first().textContent(), first, 'the newest stands first');
    await page.evaluate(() => {
      const [session] = window.recordedHost.summaries();
      const item = { id: 'later', turn: 99_999, at: 0, body: { kind: 'human', text: 'And then?', attachments: [] } };
      window.recordedHost.emit(session.id, { type: 'item_started', item });
    });
    await places.filter({ hasText: 'And then?' }).waitFor();
    assert.equal(await places.count(), 201);
    const asked = await calls(page, 'timeline');
    const [, { before }, { from }] = asked;
    const isNew = asked.length === 3 && parseInt(from) > parseInt(before) + 100;
    assert.ok(isNew, `what is known is not fetched again: ${JSON.stringify(asked)}`);
    await places.nth(3).click();
    const past = page.getByRole('dialog', { name: 'As it was' });
    const rows = () => past.locator('.group').count();
    await past.locator('.group').first().waitFor();
    const shown = await rows();
    await past.getByRole('button', { name: /^Show .* earlier/ }).click();
    await page.waitForFunction((before) => document.querySelectorAll('.past .group').length > before, shown);
    assert.deepEqual([shown <= 200, (await rows()) <= 400], [true, true]);
    await done(page);
  });

  test('a conversation is summed up, its words are changed, and that is undone', async () => {
    const page = await site.show();
    await page.getByRole('button', { name: /^Move fixtures to SQLite/ }).click();
    await message(page).fill('/compact');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Summary of the conversation' });
    await dialog.getByText('Nothing has been summarised yet').waitFor();
    await dialog.getByLabel('Instructions for the summary').fill('the schema');
    await dialog.getByRole('button', { name: 'Summarise now' }).click();
    const words = dialog.getByLabel('What the model reads in its place');
    await words.waitFor();
    assert.ok((await words.inputValue()).includes('Minded as you asked: the schema.'));
    await words.fill('The fixtures are in SQLite now.');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('edited').waitFor();
    await dialog.getByRole('button', { name: 'Undo the summary' }).click();
    await dialog.getByText('Nothing has been summarised yet').waitFor();
    assert.deepEqual(await calls(page, 'compactSession'), [{ session: 's-fixtures', guidance: 'the schema' }]);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
    await done(page);
  });

  test('nothing can go back while a turn waits', async () => {
    const page = await site.show({ tab: 'timeline' });
    await page.getByRole('button', { name: /^More for “Ran cargo test -p auth”/ }).press('Enter');
    const item = page.getByRole('menuitem', { name: 'Rewind to here…' });
    await item.waitFor();
    assert.equal(await item.getAttribute('aria-disabled'), 'true');
    await page.keyboard.press('Escape');
    await page.locator('.place').filter({ hasText: 'Ran cargo test' }).click();
    const past = page.getByRole('dialog', { name: 'As it was' });
    assert.ok(await past.getByRole('button', { name: 'Rewind to here…' }).isDisabled());
    await done(page);
  });
});
