/** Sessions: listed, found, renamed, deleted, brought back, said differently. */
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { after, before, describe, test } from 'node:test';
import axe from 'axe-core';
import { button, calls, done } from './page.mjs';
import { open, rest } from './site.mjs';

let site;
before(async () => (site = await open()));
after(() => site?.close());

// Each has a page and a storage of its own, so they may run side by side.
describe('sessions', { concurrency: Math.min(3, availableParallelism()) }, () => {
  test('a session is renamed, pinned, archived and deleted from its menu, and brought back', async () => {
    const page = await site.show();
    const choose = async (title, what) => {
      await page.getByRole('button', { name: `More for “${title}”` }).press('Enter');
      await page.getByRole('menuitem', { name: what }).click();
    };
    await choose('Move fixtures to SQLite', 'Rename');
    const field = page.getByRole('textbox', { name: 'Title of the session' });
    await field.waitFor();
    await page.keyboard.type('Fixtures');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /^Fixtures/ }).waitFor();
    await choose('Fixtures', 'Pin');
    await page.getByRole('heading', { name: 'Pinned' }).waitFor();
    await choose('Fixtures', 'Export as a web page');
    const file = page.getByRole('region', { name: 'What the file would contain' });
    await file.getByText('MODEL_KEY=[redacted]').waitFor();
    await page.getByText('1 text held a key or what looks like one: replaced by [redacted]').waitFor();
    await page.getByText('JSON', { exact: true }).click();
    await file.getByText('"title": "Fixtures"').waitFor();
    await page.getByText('Web page', { exact: true }).click();
    await button(page, 'Choose a folder…').click();
    await page.getByText('Written to ~/s-fixtures.html').waitFor();
    await file.waitFor({ state: 'detached' });
    await choose('Windows path tests', 'Archive');
    await page.getByText('“Windows path tests” was archived').waitFor();
    await button(page, 'Archived (1)').click();
    await page.getByRole('button', { name: /^Windows path tests/ }).waitFor();
    await choose('Fixtures', 'Delete');
    await page.getByText('“Fixtures” was deleted').waitFor();
    await page.getByRole('button', { name: /^Fixtures/ }).waitFor({ state: 'detached' });
    await button(page, 'Undo').click();
    await page.getByRole('button', { name: /^Fixtures/ }).waitFor();
    assert.deepEqual(await calls(page, 'restoreSession'), ['s-fixtures']);
    await done(page);
  });

  test('what was said in another session is found and gone to', async () => {
    const page = await site.show();
    await page.keyboard.press('Control+k');
    await page.locator('.palette input:focus').waitFor();
    await page.keyboard.type('retry libraries in vendor');
    await page.getByRole('option', { name: /Compare the retry libraries in vendor/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Survey of retry libraries' }).waitFor();
    await page.locator('.group.found').getByText('Compare the retry').waitFor();
    await page.getByText('1 of 1').waitFor();
    await done(page);
  });

  test('what a subagent said is found, and shown where the subagent said it', async () => {
    const page = await site.show();
    await page.keyboard.press('Control+k');
    await page.locator('.palette input:focus').waitFor();
    await page.keyboard.type('billing fakes');
    const hit = page.getByRole('option', { name: /^Two fakes are in use/ });
    await hit.locator('mark', { hasText: 'billing' }).waitFor();
    await hit.click();
    const dialog = page.getByRole('dialog', { name: /test-scout/ });
    await dialog.locator('.group.found').getByText('Two fakes are in use').waitFor();
    assert.equal(await page.evaluate(() => CSS.highlights.get('found').size), 2);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await page.getByRole('search').count(), 0);
    await done(page);
  });

  test('a session that was deleted is brought back from the end of the list', async () => {
    const page = await site.show();
    await page.getByRole('button', { name: 'More for “Windows path tests”' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await button(page, 'Deleted (1)').click();
    await page.getByText('Kept for 30 days').waitFor();
    await button(page, 'Restore “Windows path tests”').click();
    await page.getByRole('button', { name: /^Windows path tests/ }).waitFor();
    await button(page, 'Deleted (1)').waitFor({ state: 'detached' });
    await done(page);
  });

  test('the model of a new session is that of the sessions after it', async () => {
    const page = await site.show();
    await page.keyboard.press('Control+n');
    await page.getByRole('button', { name: /^Model:/ }).click();
    await page.locator('.picker input:focus').waitFor();
    await page.keyboard.type('opus');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Model: claude-opus' }).waitFor();
    assert.equal((await calls(page, 'saveSettings')).at(-1).model.name, 'claude-opus');
    assert.deepEqual(await calls(page, 'setSessionModel'), []);
    await done(page);
  });

  test('a message is said differently in a session of its own', async () => {
    const page = await site.show();
    await page.getByRole('article', { name: 'You' }).hover();
    await button(page, 'Edit it in a new session').click();
    const field = page.getByRole('textbox', { name: 'The message in other words' });
    await page.waitForFunction(() => document.activeElement?.value.startsWith('After the laptop sleeps'));
    // Nothing is made of it before it is sent, and another look loses nothing.
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
    await page.getByRole('article', { name: 'You' }).hover();
    await button(page, 'Edit it in a new session').click();
    assert.deepEqual(await calls(page, 'forkBefore'), []);
    await field.fill('Say it shortly');
    await page.keyboard.press('Enter');
    await page.getByRole('article', { name: 'You' }).getByText('Say it shortly').waitFor();
    assert.equal((await calls(page, 'forkBefore')).length, 1);
    assert.equal((await calls(page, 'sendMessage')).at(-1).text, 'Say it shortly');
    assert.equal(await field.count(), 0);
    await done(page);
  });

  test('what stood with a message comes along when it is said differently', async () => {
    const page = await site.show({ recorded: 'attachments' });
    await page.getByRole('article', { name: 'You' }).hover();
    await button(page, 'Edit it in a new session').click();
    await page.waitForFunction(() => document.activeElement?.value.startsWith('Why is there a red dot'));
    await button(page, 'Remove “report.pdf”').click();
    await button(page, 'Send in a new session').click();
    await page
      .getByRole('article', { name: 'You' })
      .getByRole('button', { name: /red-dot\.png/ })
      .waitFor();
    const [sent] = await calls(page, 'sendMessage');
    assert.deepEqual(
      sent.attachments.map(({ name }) => name),
      ['red-dot.png', 'console.log'],
    );
    assert.deepEqual(sent.mentions, [{ mention: 'path', path: '/src/auth/clock.rs' }]);
    await done(page);
  });

  test('what waits in any session is answered in one place', async () => {
    const page = await site.show();
    await page.getByRole('button', { name: /^Windows path tests/ }).click();
    await page.getByRole('button', { name: /^Waiting for you/ }).click();
    const inbox = page.getByRole('dialog', { name: 'Waiting for you' });
    const card = inbox.getByRole('dialog', { name: 'Approval: Run cargo test -p backon --no-run' });
    await card.waitFor();
    await page.waitForTimeout(400);
    await card.getByRole('button', { name: 'Approve' }).click();
    await card.waitFor({ state: 'detached' });
    assert.equal((await calls(page, 'decide'))[0][0].session, 's-backon');
    await inbox.getByRole('button', { name: 'Open the session' }).click();
    await page.getByRole('heading', { level: 1, name: 'Token refresh fails after sleep' }).waitFor();
    await done(page);
  });

  test('of thousands few are drawn, and the keys reach the last of them', async () => {
    const page = await site.show({ recorded: 'many' });
    const list = page.getByRole('navigation', { name: 'Sessions' });
    const rows = list.getByRole('listitem');
    const isFew = async () => assert.ok((await rows.count()) < 120, `${await rows.count()} rows`);
    const heightOf = () => list.evaluate((nav) => nav.scrollHeight);
    await isFew();
    const height = await heightOf();
    // Backwards from what stands behind the list: over its archive to the last row.
    await list.getByRole('button', { name: /^Archived/ }).focus();
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    const focused = () => page.evaluate(() => document.activeElement.closest('li')?.innerText ?? '');
    assert.match(await focused(), / 4998\n/);
    await rest(page);
    assert.ok(Math.abs((await heightOf()) - height) < 2);
    for (const title of [/ 4997\n/, / 4996\n/, / 4994\n/]) {
      await page.keyboard.press('Shift+Tab');
      await page.keyboard.press('Shift+Tab');
      assert.match(await focused(), title);
    }
    await isFew();
    // One that is opened from elsewhere comes into sight.
    await page.keyboard.press('Control+k');
    await page.locator('.palette input:focus').waitFor();
    await page.keyboard.type('fixtures 2000');
    await page.getByRole('option', { name: / 2000/ }).first().click();
    const opened = list.locator('[aria-current=page]');
    await opened.filter({ hasText: / 2000/ }).waitFor();
    await page.waitForFunction(() => {
      const row = document.querySelector('nav [aria-current=page]').getBoundingClientRect();
      const nav = document.querySelector('aside.left nav').getBoundingClientRect();
      return row.top >= nav.top - 1 && row.bottom <= nav.bottom + 1;
    });
    await rest(page);
    await isFew();
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(() => window.axe.run('aside.left', { resultTypes: ['violations'] }));
    assert.deepEqual(
      violations.map(({ id, nodes }) => [id, nodes[0].html]),
      [],
    );
    await done(page);
  });
});
