/** The paths a person takes, in a page under the window's own policy. */
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { after, before, describe, test } from 'node:test';
import { button, calls, done, message } from './page.mjs';
import { open, rest } from './site.mjs';

let site;
before(async () => (site = await open()));
after(() => site?.close());

// Each has a page and a storage of its own, so they may run side by side.
describe('paths', { concurrency: Math.min(3, availableParallelism()) }, () => {
  test('a first message makes the session; the focus stays for the next', async () => {
    const page = await site.show({ recorded: 'empty' });
    await page.keyboard.type('Tidy the changelog');
    await page.keyboard.press('Enter');
    await page.getByRole('article', { name: 'You' }).getByText('Tidy the changelog').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Tidy the changelog' }).waitFor();
    await page.keyboard.type('And then the notes');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: '1 queued' }).getByText('And then the notes').waitFor();
    await button(page, 'Delete from the queue').click();
    await page.getByRole('region', { name: '1 queued' }).waitFor({ state: 'detached' });
    await page.locator('.note').getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('region', { name: '1 queued' }).getByText('And then the notes').waitFor();
    await button(page, 'Delete from the queue').click();
    await page.getByRole('region', { name: '1 queued' }).waitFor({ state: 'detached' });
    assert.deepEqual(
      (await calls(page, 'sendMessage')).map((one) => one.text),
      // What is undone is sent once more.
      ['Tidy the changelog', 'And then the notes', 'And then the notes'],
    );
    await done(page);
  });

  test('requests are answered by keys alone, one after the other', async () => {
    const page = await site.show();
    await page.waitForTimeout(400);
    await page.keyboard.press('y');
    await page.getByRole('dialog', { name: 'Approval: Run cargo test -p backon --no-run' }).waitFor();
    await page.waitForTimeout(400);
    await page.keyboard.press('n');
    await page.keyboard.type('Not yet');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const decisions = (await calls(page, 'decide')).flat();
    assert.deepEqual(
      decisions.map((one) => [one.session, one.decision]),
      [
        ['s-refresh', { decision: 'approve' }],
        ['s-backon', { decision: 'reject', reason: 'Not yet' }],
      ],
    );
    await done(page);
  });

  test('a key that is typed decides nothing', async () => {
    const page = await site.show();
    await page.waitForTimeout(400);
    await message(page).click();
    await page.keyboard.type('yes, never');
    assert.deepEqual(await calls(page, 'decide'), []);
    assert.equal(await message(page).inputValue(), 'yes, never');
    await done(page);
  });

  test('a link shows its real host before anything is opened', async () => {
    const page = await site.show({ recorded: 'hostile' });
    await page.getByRole('link', { name: 'look-alike' }).click();
    const dialog = page.getByRole('dialog', { name: 'Open this link?' });
    await dialog.getByText('xn--gthub-n2e.com', { exact: true }).waitFor();
    assert.deepEqual(await calls(page, 'openLink'), []);
    await dialog.getByRole('button', { name: 'Open in the browser' }).click();
    await rest(page);
    assert.deepEqual(await calls(page, 'openLink'), ['https://xn--gthub-n2e.com/login']);
    await done(page);
  });

  test('nothing of a hostile message becomes markup', async () => {
    const page = await site.show({ recorded: 'hostile' });
    const made = await page.evaluate(
      () =>
        document.querySelectorAll('.md :is(img, script, iframe, a, form, object, embed, [style], [onerror])').length,
    );
    assert.equal(made, 0);
    await page.locator('.picture').getByText('https://canary.example/?d=SECRET').waitFor();
    await done(page);
  });

  test('a todo of the board leaves only its work in the conversation', async () => {
    const page = await site.show();
    await button(page, 'Open as a board').click();
    const lane = page.getByRole('dialog', { name: 'Plan' }).getByRole('region', { name: 'In progress' });
    await lane.getByRole('button', { name: /^Check expiry at call time/ }).click();
    await page.getByText('Only what was done for “Check expiry at call time, not by timer”').waitFor();
    assert.equal(await page.getByRole('article').count(), 0);
    await page.getByRole('button', { name: /^Ran cargo test/ }).waitFor();
    await button(page, 'Show the whole conversation').first().click();
    await page.getByRole('article', { name: 'You' }).waitFor();
    await done(page);
  });

  test('a person adds, rewords, moves and drops lines of the plan', async () => {
    const page = await site.show();
    const plan = page.getByRole('tabpanel', { name: /Plan/ });
    await plan.getByRole('textbox', { name: 'Add a to-do…' }).fill('Tell the support team');
    await page.keyboard.press('Enter');
    await plan.getByRole('button', { name: 'Tell the support team', exact: true }).waitFor();
    await button(page, 'Open as a board').click();
    const lane = page.getByRole('dialog', { name: 'Plan' }).getByRole('region', { name: 'Pending' });
    const choose = async (todo, what) => {
      await lane.getByRole('button', { name: `More for “${todo}”` }).press('Enter');
      await page.getByRole('menuitem', { name: what }).click();
      // A menu that goes gives the focus back, which would take it from the next.
      await page.getByRole('menu').waitFor({ state: 'detached' });
    };
    await choose('Tell the support team', 'Move up in the plan');
    await choose('Note the behaviour in CHANGELOG', 'Remove from the plan');
    await choose('Add a fake clock to the session tests', 'Edit the text');
    await page.getByRole('textbox', { name: 'Text of the to-do' }).waitFor();
    await page.keyboard.type('Use a fake clock');
    await page.keyboard.press('Enter');
    await lane.getByRole('button', { name: 'Use a fake clock', exact: true }).waitFor();
    assert.deepEqual(await lane.locator('.open').allInnerTexts(), [
      'Use a fake clock',
      'Test: refresh after eight hours of sleep',
      'Tell the support team',
    ]);
    assert.deepEqual(
      (await calls(page, 'changePlan')).map(({ change }) => change),
      ['add', 'move', 'drop', 'reword'],
    );
    await done(page);
  });

  test('a todo that was removed comes back over the board, and one that has the keys is moved by them', async () => {
    const page = await site.show();
    await button(page, 'Open as a board').click();
    const lane = page.getByRole('dialog', { name: 'Plan' }).getByRole('region', { name: 'Pending' });
    const [first, second, third] = await lane.locator('.open').allInnerTexts();
    const stand = (...wanted) =>
      page.waitForFunction(
        (all) =>
          [...document.querySelectorAll('.board section .pending .open')].map((one) => one.innerText).join() === all,
        wanted.join(),
      );
    await lane.getByRole('button', { name: `More for “${second}”` }).press('Enter');
    await page.getByRole('menuitem', { name: 'Remove from the plan' }).click();
    await stand(first, third);
    await page.getByText(`“${second}” was removed from the plan`).waitFor();
    await button(page, 'Undo').click();
    await stand(first, second, third);
    await lane.getByRole('button', { name: first, exact: true }).focus();
    const hasKeys = () => page.waitForFunction((text) => document.activeElement?.innerText === text, first);
    for (const wanted of [
      [second, first, third],
      [second, third, first],
    ]) {
      await page.keyboard.press('Alt+ArrowDown');
      await stand(...wanted);
      await hasKeys();
    }
    await page.keyboard.press('Alt+ArrowUp');
    await stand(second, first, third);
    await hasKeys();
    await done(page);
  });

  test('messages that wait are changed, moved, given to the turn, sent now', async () => {
    const page = await site.show({ recorded: 'live' });
    const queue = page.getByRole('region', { name: /queued$/ });
    for (const text of ['first', 'second', 'third']) {
      await page.keyboard.type(text);
      await page.keyboard.press('Enter');
      await queue.getByText(text, { exact: true }).waitFor();
    }
    const row = (text) => queue.getByRole('listitem').filter({ hasText: text });
    await row('third').getByRole('button', { name: 'Move up in the queue' }).click();
    await row('first').getByRole('button', { name: 'Edit the message' }).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('first of all');
    await page.keyboard.press('Enter');
    await row('first of all').waitFor();
    await row('third').getByRole('button', { name: 'Steer the running turn' }).click();
    await page.getByRole('article', { name: 'You' }).getByText('third').waitFor();
    await row('second').getByRole('button', { name: 'Stop the turn and send it now' }).click();
    await page.getByRole('article', { name: 'You' }).getByText('second').waitFor();
    await message(page).click();
    await page.keyboard.type('use a fake clock');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('article', { name: 'You' }).getByText('use a fake clock').waitFor();
    assert.deepEqual(
      (await calls(page, 'moveQueued')).map(({ to }) => to),
      [1],
    );
    assert.equal(await queue.getByRole('listitem').count(), 1);
    await done(page);
  });

  test('words are found in what was said and done, newest first', async () => {
    const page = await site.show();
    await page.keyboard.press('Control+f');
    await page.locator('.find input:focus').waitFor();
    await page.keyboard.type('EXPIRES_AT');
    await page.getByText('2 of 2').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('1 of 2').first().waitFor();
    await page.locator('.tool.found').getByText('pub expires_at: SystemTime').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.found').first().waitFor({ state: 'detached' });
    assert.deepEqual(await calls(page, 'stopTurn'), []);
    await done(page);
  });

  test('Escape stops the turn', async () => {
    const page = await site.show();
    await page.keyboard.press('Escape');
    await rest(page);
    assert.deepEqual(await calls(page, 'stopTurn'), ['s-refresh']);
    await done(page);
  });

  test('a failed turn shows the provider’s words and the ways out', async () => {
    const page = await site.show();
    await page.getByRole('button', { name: /^Windows path tests/ }).click();
    await page.getByText('overloaded_error: Overloaded.').waitFor();
    await button(page, 'Switch model').click();
    await page.getByRole('option', { name: /claude-opus/ }).waitFor();
    await page.keyboard.press('Escape');
    await button(page, 'Try again').click();
    await rest(page);
    assert.deepEqual(await calls(page, 'continueTurn'), ['s-paths']);
    await done(page);
  });
});
