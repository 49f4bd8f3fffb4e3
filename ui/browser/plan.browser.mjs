/** The plan: todos are dragged to other places of their lane, by hand; other lanes refuse them. */
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { after, before, describe, test } from 'node:test';
import { button, calls, done } from './page.mjs';
import { open } from './site.mjs';

let site;
before(async () => (site = await open()));
after(() => site?.close());

const cards = (place) => place.locator('[data-lane=pending] > ul > li');
const names = (place) => cards(place).locator('.open').allInnerTexts();
const picture = (page) => page.locator('li.dragged');

async function middle(card) {
  const { x, y, width, height } = await card.boundingBox();
  return { x: x + width / 2, y: y + height / 2, height };
}

/** Lifts a card, and leaves the pointer a little beside where it was. */
async function lift(page, card) {
  const from = await middle(card);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x + 8, from.y + 8, { steps: 3 });
  await picture(page).waitFor();
}

describe('the plan', { concurrency: Math.min(3, availableParallelism()) }, () => {
  test('a todo is dragged to another place of its lane, and a press without a way is none', async () => {
    const page = await site.show();
    const pane = page.getByRole('tabpanel', { name: /^Plan/ });
    const [first, second, ...rest] = await names(pane);
    await lift(page, cards(pane).nth(0));
    const to = await middle(cards(pane).nth(1));
    await page.mouse.move(to.x, to.y + to.height / 2 - 2, { steps: 6 });
    await pane.locator('li.before, li.after').waitFor();
    await page.mouse.up();
    await picture(page).waitFor({ state: 'detached' });
    await cards(pane).nth(0).getByText(second).waitFor();
    assert.deepEqual(await names(pane), [second, first, ...rest]);
    const said = `“${first}” is now 2 of ${rest.length + 2} in “Pending”`;
    await pane.locator('[aria-live=polite]', { hasText: said }).waitFor({ state: 'attached' });
    assert.equal((await calls(page, 'changePlan')).length, 1);
    // The press that ended it chose nothing.
    assert.equal(await pane.locator('.chosen').count(), 0);
    await cards(pane).nth(0).locator('.open').click();
    await pane.locator('.chosen').waitFor();
    // With the keys it is said as well.
    await page.keyboard.press('Alt+ArrowDown');
    const moved = `“${second}” is now 2 of ${rest.length + 2} in “Pending”`;
    await pane.locator('[aria-live=polite]', { hasText: moved }).waitFor({ state: 'attached' });
    await done(page);
  });

  test('on the board other lanes refuse it for all to see, and Escape gives it up', async () => {
    const page = await site.show();
    await button(page, 'Open as a board').click();
    const board = page.getByRole('dialog', { name: 'Plan' });
    const before = await names(board);
    await lift(page, cards(board).nth(0));
    const lane = board.locator('[data-lane=completed]');
    const over = await middle(lane);
    await page.mouse.move(over.x, over.y, { steps: 6 });
    await board.locator('[data-lane=completed].refuses').waitFor();
    const words = await picture(page).getAttribute('data-refused');
    assert.equal(words, 'Only the agent says what is at work or done');
    await page.mouse.up();
    await picture(page).waitFor({ state: 'detached' });
    await board
      .locator('[aria-live=polite]', { hasText: `“${before[0]}” stays in “Pending”` })
      .waitFor({ state: 'attached' });
    assert.equal(await board.locator('.refuses').count(), 0);

    await lift(page, cards(board).nth(0));
    const last = await middle(cards(board).last());
    await page.mouse.move(last.x, last.y + last.height / 2 - 2, { steps: 6 });
    await board.locator('li.after').waitFor();
    await page.keyboard.press('Escape');
    await picture(page).waitFor({ state: 'detached' });
    assert.equal(await board.isVisible(), true);
    await page.mouse.up();
    assert.equal(await board.isVisible(), true);
    assert.deepEqual([await names(board), await calls(page, 'changePlan')], [before, []]);

    // The same way to its end moves it there.
    await lift(page, cards(board).nth(0));
    await page.mouse.move(last.x, last.y + last.height / 2 - 2, { steps: 6 });
    await page.mouse.up();
    await board.locator('[aria-live=polite]', { hasText: `is now ${before.length} of` }).waitFor({ state: 'attached' });
    await cards(board).last().getByText(before[0]).waitFor();
    assert.deepEqual(await names(board), [...before.slice(1), before[0]]);
    await done(page);
  });

  test('words that were being written for a todo and to the agent are there again after a reload', async () => {
    const page = await site.show();
    const pane = page.getByRole('tabpanel', { name: /^Plan/ });
    const [first] = await names(pane);
    await cards(pane).nth(0).hover();
    await button(page, `More for “${first}”`).click();
    await page.getByRole('menuitem', { name: 'Edit the text' }).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('said better');
    await page.reload();
    const field = pane.getByRole('textbox', { name: 'Text of the to-do' });
    await field.waitFor();
    assert.equal(await field.inputValue(), 'said better');
    await field.press('Enter');
    await cards(pane).nth(0).getByText('said better').waitFor();
    await done(page);
  });
});
