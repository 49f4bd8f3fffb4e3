/** Subagents, as a person meets them. */
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { after, before, describe, test } from 'node:test';
import { calls, done } from './page.mjs';
import { open } from './site.mjs';

let site;
before(async () => (site = await open()));
after(() => site?.close());

// Each has a page and a storage of its own, so they may run side by side.
describe('agents', { concurrency: Math.min(3, availableParallelism()) }, () => {
  test('a subagent’s request is answered where it stands', async () => {
    const page = await site.show({ tab: 'agents' });
    await page.getByRole('treeitem', { name: /reader · backon/ }).click();
    const pane = page.getByRole('region', { name: 'What reader did' });
    await pane.getByText('I want to see whether').waitFor();
    await page.waitForTimeout(400);
    await pane.getByRole('button', { name: 'Approve' }).click();
    await pane.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal((await calls(page, 'decide'))[0][0].session, 's-backon');
    await done(page);
  });

  test('one subagent is stopped alone, and all it did is read with more room', async () => {
    const page = await site.show({ tab: 'agents' });
    await page.getByRole('treeitem', { name: /reader · tower-retry/ }).click();
    const pane = page.getByRole('region', { name: 'What reader did' });
    await pane.getByRole('button', { name: 'Open with more room' }).click();
    const wide = page.getByRole('dialog', { name: 'What reader did' });
    await wide.getByRole('button', { name: /vendor\/tower\/src\/retry\/mod\.rs/ }).waitFor();
    await page.keyboard.press('Escape');
    await pane.getByRole('button', { name: 'Stop reader' }).click();
    await pane.getByRole('button', { name: 'Stop reader' }).waitFor({ state: 'detached' });
    await page.getByRole('treeitem', { name: /reader · tower-retry.*cancelled/ }).waitFor();
    assert.deepEqual(await calls(page, 'stopSubagent'), [{ session: 's-refresh', child: 's-tower' }]);
    assert.deepEqual(await calls(page, 'stopTurn'), []);
    await done(page);
  });

  test('a subagent’s request is answered, and the subagent stopped, where all it did is read', async () => {
    const page = await site.show({ tab: 'agents' });
    await page.getByRole('treeitem', { name: /reader · backon/ }).click();
    await page.getByRole('button', { name: 'Open with more room' }).click();
    const wide = page.getByRole('dialog', { name: 'What reader did' });
    await wide.getByText('waiting for you · execute').waitFor();
    await wide.getByText(/\d:\d\d · 5% · \$0\.02/).waitFor();
    const card = wide.getByRole('dialog', { name: /^Approval/ });
    // A card counts for nothing until it has been in sight for a moment.
    await page.waitForTimeout(400);
    await card.getByRole('button', { name: 'Approve' }).click();
    await card.waitFor({ state: 'detached' });
    assert.equal((await calls(page, 'decide'))[0][0].session, 's-backon');
    await page.keyboard.press('Escape');
    await page.getByRole('treeitem', { name: /reader · tower-retry/ }).click();
    await page.getByRole('button', { name: 'Open with more room' }).click();
    await wide.getByRole('button', { name: 'Stop reader' }).click();
    await wide.getByText('cancelled').waitFor();
    await wide.getByRole('button', { name: 'Stop reader' }).waitFor({ state: 'detached' });
    assert.deepEqual(await calls(page, 'stopSubagent'), [{ session: 's-refresh', child: 's-tower' }]);
    await done(page);
  });

  test('the tree of agents is walked with the arrow keys', async () => {
    const page = await site.show({ tab: 'agents' });
    await page.getByRole('treeitem', { name: /retry policies/ }).focus();
    await page.keyboard.press('ArrowDown');
    assert.match(await page.evaluate(() => document.activeElement.textContent), /tower-retry/);
    await page.keyboard.press('End');
    assert.match(await page.evaluate(() => document.activeElement.textContent), /clock fakes/);
    await done(page);
  });
});
