/** Subagents, as a person meets them. */
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { after, before, describe, test } from 'node:test';
import { button, calls, done } from './page.mjs';
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

  test('the branches of the tree are folded, and the main agent stands for itself', async () => {
    const page = await site.show({ tab: 'agents' }, { width: 1024, height: 700 });
    await button(page, 'Show the side pane').click();
    const research = page.getByRole('treeitem', { name: /retry policies/ });
    await research.focus();
    await page.keyboard.press('ArrowLeft');
    await page.getByRole('treeitem', { name: /tower-retry/ }).waitFor({ state: 'detached' });
    assert.equal(await research.getAttribute('aria-expanded'), 'false');
    await page.keyboard.press('ArrowLeft');
    const facts = page.getByRole('region', { name: 'How it stands with main agent' });
    await facts.getByText('waiting for you · edit_file src/auth/session.rs').waitFor();
    await facts.getByText('34%').waitFor();
    await facts.getByRole('button', { name: 'Go to the conversation' }).click();
    await page.locator('.right.drawer').waitFor({ state: 'detached' });
    await button(page, 'Show the side pane').click();
    await facts.waitFor();
    assert.equal(await research.getAttribute('aria-expanded'), 'false');
    await done(page);
  });

  test('a subagent at work is followed at its end, and a person’s place in what it did holds', async () => {
    const page = await site.show({ tab: 'agents' }, { width: 1440, height: 700 });
    await page.getByRole('treeitem', { name: /tower-retry/ }).click();
    const rows = (from) =>
      page.evaluate((first) => {
        for (let at = first; at < first + 30; at++) {
          const body = { kind: 'ai', text: `Thought ${at}`, reasoning: '', streaming: false };
          window.recordedHost.emit('s-tower', { type: 'item_started', item: { id: `n${at}`, turn: 1, at: 0, body } });
        }
      }, from);
    const isAtEnd = (view, text) =>
      view.evaluate(async (one, last) => {
        const isThere = () =>
          one.textContent.includes(last) && one.scrollHeight - one.scrollTop - one.clientHeight <= 2;
        for (let tries = 0; tries < 100 && !isThere(); tries++) await new Promise((next) => setTimeout(next, 100));
        return isThere() && one.scrollTop > 0;
      }, text);
    const small = page.getByRole('group', { name: 'Everything it did' });
    await small.getByRole('button', { name: /vendor\/tower\/src\/retry\/mod\.rs/ }).waitFor();
    await rows(0);
    assert.ok(await isAtEnd(small, 'Thought 29'), 'the pane follows the end');
    assert.ok(await page.getByRole('treeitem', { name: /tower-retry/ }).isVisible());
    await button(page, 'Open with more room').click();
    const wide = page
      .getByRole('dialog', { name: 'What reader did' })
      .getByRole('group', { name: 'Everything it did' });
    await rows(30);
    assert.ok(await isAtEnd(wide, 'Thought 59'), 'the dialog follows the end');
    await wide.hover();
    await page.mouse.wheel(0, -400);
    await page.waitForTimeout(600);
    const place = () => wide.evaluate((view) => view.scrollTop);
    const at = await place();
    await rows(60);
    await wide.getByText('Thought 89').waitFor({ state: 'attached' });
    await page.waitForTimeout(300);
    assert.ok(Math.abs((await place()) - at) <= 2, 'it stays where a person is');
    await done(page);
  });
});
