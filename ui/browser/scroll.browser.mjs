/** Scrolling: the end is followed, a person's place is never pulled away, earlier rows come without a jump. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { open } from './site.mjs';

let site;
before(async () => (site = await open()));
after(() => site?.close());

const log = (page) => page.locator('.log');
const fromEnd = (page) => log(page).evaluate((view) => view.scrollHeight - view.scrollTop - view.clientHeight);

/** Where the row with this text stands on the screen. */
const top = (page, text) =>
  page
    .getByText(text, { exact: true })
    .first()
    .evaluate((row) => row.getBoundingClientRect().top);

test('a long session opens at its end with few rows in the page', async () => {
  const page = await site.show({ recorded: 'long' });
  await page
    .getByRole('article')
    .getByText(/^Answer 9999:/)
    .waitFor();
  assert.ok((await fromEnd(page)) <= 1);
  assert.ok((await page.locator('.log .group').count()) < 100);
  await page.close();
});

test('rows that fold into a line leave room for what was before them', async () => {
  const page = await site.show({ recorded: 'folded' });
  await page.getByText('Done.', { exact: true }).waitFor();
  await page.getByRole('article', { name: 'You' }).getByText('Read it all.').waitFor();
  await page.close();
});

test('earlier rows come while scrolling up, and what is in sight stays', async () => {
  const page = await site.show({ recorded: 'long' });
  await page
    .getByRole('article')
    .getByText(/^Answer 9999:/)
    .waitFor();
  const before = await page.locator('.log .group').count();
  for (let turn = 0; turn < 40 && (await page.locator('.log .group').count()) === before; turn++) {
    await log(page).hover();
    await page.mouse.wheel(0, -900);
    await page.waitForTimeout(60);
  }
  assert.ok((await page.locator('.log .group').count()) > before, 'earlier rows were added');
  await page.waitForTimeout(200);
  const seen = await log(page).evaluate((view) => {
    const rows = [...view.querySelectorAll('.group.human article p')];
    const row = rows.find((one) => one.getBoundingClientRect().top > view.getBoundingClientRect().top);
    return { text: row.textContent.trim(), top: row.getBoundingClientRect().top };
  });
  const count = await page.locator('.log .group').count();
  await log(page).evaluate((view) => (view.scrollTop -= 1));
  await page.getByRole('button', { name: /^Show .* earlier rows$/ }).evaluate((more) => more.click());
  await page.waitForTimeout(300);
  assert.ok((await page.locator('.log .group').count()) > count);
  const moved = Math.abs((await top(page, seen.text)) - seen.top);
  assert.ok(moved <= 2, `the row moved by ${moved} pixels`);
  await page.close();
});

test('the end is followed while text streams, until a person scrolls away', async () => {
  const page = await site.show({ recorded: 'stream' });
  await page
    .getByRole('article')
    .getByText(/^Answer 299:/)
    .waitFor();
  await page.keyboard.type('go');
  await page.keyboard.press('Enter');
  await page.waitForTimeout(1500);
  assert.ok((await fromEnd(page)) <= 2, 'it follows the end');
  await log(page).hover();
  await page.mouse.wheel(0, -700);
  await page.waitForTimeout(200);
  const at = await log(page).evaluate((view) => view.scrollTop);
  await page.waitForTimeout(1200);
  const later = await log(page).evaluate((view) => view.scrollTop);
  assert.ok(Math.abs(later - at) <= 2, `pulled by ${later - at} pixels`);
  assert.ok((await fromEnd(page)) > 200);
  await page.getByRole('button', { name: 'Jump to latest' }).click();
  await page.waitForTimeout(300);
  assert.ok((await fromEnd(page)) <= 2, 'and follows again when asked to');
  await page.close();
});

test('a session that was left is at once where it was, with what came meanwhile below', async () => {
  const page = await site.show({ recorded: 'long' });
  await page
    .getByRole('article')
    .getByText(/^Answer 9999:/)
    .waitFor();
  for (let turn = 0; turn < 40 && (await page.getByText(/^Answer 9860:/).count()) === 0; turn++) {
    await log(page).evaluate((view) => (view.scrollTop = 100));
    await page.waitForTimeout(60);
  }
  const seen = await log(page).evaluate(async (view) => {
    view.scrollTop = view.scrollHeight / 2;
    await new Promise((done) => setTimeout(done, 200));
    const edge = view.getBoundingClientRect().top;
    const row = [...view.querySelectorAll('.group.human article p')].find(
      (one) => one.getBoundingClientRect().top > edge,
    );
    return { text: row.textContent.trim(), top: row.getBoundingClientRect().top };
  });
  const groups = await page.locator('.log .group').count();
  await page.keyboard.press('Control+n');
  await log(page).waitFor({ state: 'detached' });
  await page.evaluate(() => {
    const [session] = window.recordedHost.summaries();
    const item = { id: 'meanwhile', turn: 1, at: 0, body: { kind: 'human', text: 'Meanwhile', attachments: [] } };
    window.recordedHost.emit(session.id, { type: 'item_started', item });
  });
  // Before the host can answer anything: no timer ends in between.
  const drawn = await page.evaluate(async () => {
    const key = { key: '1', code: 'Digit1', ctrlKey: true, bubbles: true, cancelable: true };
    document.body.dispatchEvent(new KeyboardEvent('keydown', key));
    for (let turn = 0; turn < 100; turn++) await Promise.resolve();
    return document.querySelectorAll('.log .group').length;
  });
  assert.equal(drawn, groups, 'what was known is there without a question');
  await page.waitForTimeout(400);
  const moved = Math.abs((await top(page, seen.text)) - seen.top);
  assert.ok(moved <= 2, `the row moved by ${moved} pixels`);
  await page.getByRole('button', { name: 'Jump to latest' }).click();
  await page.getByRole('article').getByText('Meanwhile').waitFor();
  await page.close();
});

test('what a person opens stays under the pointer', async () => {
  const page = await site.show({ recorded: 'tools' });
  const line = page.locator('.fold > button');
  await line.scrollIntoViewIfNeeded();
  const before = await line.evaluate((row) => row.getBoundingClientRect().top);
  await line.click();
  await page.waitForTimeout(300);
  const moved = (await line.evaluate((row) => row.getBoundingClientRect().top)) - before;
  assert.ok(Math.abs(moved) <= 2, `the row moved by ${moved} pixels`);
  await page.close();
});

test('a session of 100,000 rows has few of them in the page, wherever a person goes', async () => {
  const page = await site.show({ recorded: 'huge' });
  const rows = () => page.locator('.log .group').count();
  await page
    .getByRole('article')
    .getByText(/^Answer 99999:/)
    .waitFor();
  for (let turn = 0; turn < 12; turn++) {
    await log(page).evaluate((view) => (view.scrollTop = 0));
    await page.waitForTimeout(50);
  }
  assert.ok((await rows()) < 700, `${await rows()} groups`);
  assert.equal(await page.getByText(/^Answer 99999:/).count(), 0, 'the newest are gone meanwhile');
  await page.keyboard.press('Control+f');
  await page.locator('.find input:focus').waitFor();
  await page.keyboard.type('"Question 4005:"');
  // The oldest rows of so many are let go as long as nobody is there.
  await page.getByText('Not found', { exact: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.group.found').getByText('Question 4005: what about part 4005?').waitFor();
  assert.ok((await rows()) < 700, `${await rows()} groups`);
  await page.keyboard.press('Escape');
  // Down again, page by page, without a jump.
  for (let turn = 0; turn < 6; turn++) {
    await log(page).evaluate((view) => (view.scrollTop = view.scrollHeight - view.clientHeight - 100));
    await page.waitForTimeout(60);
  }
  assert.ok((await rows()) < 700, `${await rows()} groups`);
  await page.getByRole('button', { name: 'Jump to latest' }).click();
  await page.getByText(/^Answer 99999:/).waitFor();
  await page.waitForTimeout(200);
  assert.ok((await fromEnd(page)) <= 1);
  await page.keyboard.press('Tab');
  await page.getByRole('textbox', { name: 'Message' }).fill('Still here');
  await page.close();
});

test('of a long message that was found its first mark is gone to', async () => {
  const page = await site.show({ recorded: 'deep' });
  await page.keyboard.press('Control+f');
  await page.locator('.find input:focus').waitFor();
  await page.keyboard.type('needle');
  await page.locator('.group.found').waitFor();
  const place = () =>
    page.evaluate(() => {
      const [range] = CSS.highlights.get('found');
      const view = document.querySelector('.log').getBoundingClientRect();
      const { top, bottom } = range.getBoundingClientRect();
      return top > view.top && bottom < view.bottom;
    });
  assert.ok(await place());
  await page.waitForTimeout(300);
  assert.ok(await place(), 'it stays in sight while what is around it is drawn');
  await page.close();
});

test('100,000 earlier rows are looked through in a page that still answers, or as far as a person wants', async () => {
  const page = await site.show({ recorded: 'deep' });
  await page.keyboard.press('Control+f');
  await page.locator('.find input:focus').waitFor();
  await page.keyboard.type('"question 4005:"');
  await page.keyboard.press('Enter');
  await page.getByText(/^Looked through [\d,]{5,} of 100,000 earlier rows…$/).waitFor();
  await page.getByRole('search').getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Not found').waitFor();
  await page.getByRole('button', { name: 'Search 100,000 earlier rows' }).click();
  await page.locator('.group.found').getByText('Question 4005: what about part 4005?').waitFor();
  await page.getByText('1 of 1').waitFor();
  assert.ok((await page.locator('.log .group').count()) < 700);
  await page.close();
});

test('messages of 10 MB are drawn as far as anybody reads, and more on demand', async () => {
  const page = await site.show({ recorded: 'endless' });
  await page.getByText('And now?').waitFor();
  const drawn = () => page.evaluate(() => document.querySelector('.log').textContent.length);
  const first = await drawn();
  assert.ok(first < 600_000, `${first} characters`);
  const more = page.getByRole('article', { name: 'You' }).getByRole('button', { name: /^Show more \(/ });
  await more.evaluate((button) => button.click());
  await page.waitForFunction((before) => document.querySelector('.log').textContent.length > before, first);
  assert.ok((await drawn()) < 1_200_000);
  await page.getByRole('textbox', { name: 'Message' }).fill('Short, please');
  await page.keyboard.press('Enter');
  await page.getByRole('article', { name: 'You' }).getByText('Short, please').waitFor();
  await page.close();
});

test('of a long reply only what is near is drawn, and what is in sight stays', async () => {
  const page = await site.show({ recorded: 'endless' });
  await page.getByText('And now?').waitFor();
  const sheets = () =>
    log(page).evaluate((view) => {
      const all = [...view.querySelectorAll('.md .sheet')];
      const edge = view.getBoundingClientRect();
      const seen = all.filter((one) => {
        const { top, bottom } = one.getBoundingClientRect();
        return bottom > edge.top && top < edge.bottom;
      });
      const drawn = all.filter((one) => one.childElementCount > 0);
      return { all: all.length, drawn: drawn.length, seen: seen.map((one) => one.textContent.length) };
    });
  /** The first paragraph in sight, and where it stands. */
  const first = () =>
    log(page).evaluate((view) => {
      const { top: edge, height } = view.getBoundingClientRect();
      const all = [...view.querySelectorAll('.md p')].map((one) => [
        one.textContent.slice(0, 60),
        one.getBoundingClientRect().top,
      ]);
      return all.find(([, top]) => top > edge + height / 4);
    });
  await log(page).hover();
  for (let turn = 0; turn < 12; turn++) {
    await page.mouse.wheel(0, -600);
    await page.waitForTimeout(80);
    const { seen } = await sheets();
    assert.ok(
      seen.every((length) => length > 0),
      `nothing is seen that is not drawn: ${seen}`,
    );
  }
  await page.waitForTimeout(400);
  const now = await sheets();
  assert.ok(now.all > 20 && now.drawn < 12, JSON.stringify(now));
  const [words, before] = await first();
  await page.waitForTimeout(400);
  const [same, after] = await first();
  assert.deepEqual([same, Math.round(after)], [words, Math.round(before)]);
  await page.close();
});
