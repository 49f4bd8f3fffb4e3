/** The window itself: its keys, palette, panes, looks, and the first steps in it. */
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { after, before, describe, test } from 'node:test';
import { button, calls, done, message } from './page.mjs';
import { open, rest } from './site.mjs';

let site;
before(async () => (site = await open()));
after(() => site?.close());

// Each has a page and a storage of its own, so they may run side by side.
describe('window', { concurrency: Math.min(3, availableParallelism()) }, () => {
  test('the window’s own keys do what the sheet says', async () => {
    const page = await site.show();
    await page.keyboard.press('Control+/');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor({ state: 'detached' });
    assert.deepEqual(await calls(page, 'stopTurn'), [], 'closing a dialog stops nothing');
    await page.keyboard.press('Control+Shift+D');
    await page.getByRole('tabpanel', { name: /Changes/ }).waitFor();
    await page.keyboard.press('Control+b');
    await page.getByRole('button', { name: 'Show sessions' }).waitFor();
    await page.keyboard.press('Control+b');
    await page.keyboard.press('Control+n');
    await page.getByText('What should be done?').waitFor();
    await page.keyboard.press('Control+,');
    await page.getByRole('dialog', { name: 'Settings' }).waitFor();
    await page.keyboard.press('Escape');
    await done(page);
  });

  test('Escape stops what runs from the message and the conversation, and from no field of its own', async () => {
    const page = await site.show();
    const line = page.getByRole('textbox', { name: /^Add a to-do/ });
    await line.pressSequentially('half a line');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    assert.equal(await line.inputValue(), 'half a line');
    const once = page.locator('.approval').getByRole('button', { name: 'just this once' });
    await once.click();
    const session = page.locator('.approval').getByText('This session', { exact: true });
    await session.click();
    await page.locator('.approval .pattern input').press('Escape');
    await session.waitFor({ state: 'detached' });
    assert.deepEqual(await calls(page, 'stopTurn'), []);
    await message(page).focus();
    // Held down it is pressed once.
    for (let held = 0; held < 3; held++) await page.keyboard.down('Escape');
    await page.keyboard.up('Escape');
    assert.equal((await calls(page, 'stopTurn')).length, 1);
    await done(page);
  });

  test('a pane over the conversation has the keys, and gives them back', async () => {
    const page = await site.show({}, { width: 860, height: 700 });
    await message(page).focus();
    await page.keyboard.press('Control+Shift+D');
    await page.locator('.right.drawer :focus').waitFor();
    assert.equal(await page.locator('.middle').getAttribute('inert'), '');
    await page.keyboard.press('Escape');
    await page.locator('.right.drawer').waitFor({ state: 'detached' });
    await page.locator('.composer textarea:focus').waitFor();
    assert.deepEqual(await calls(page, 'stopTurn'), []);
    // The pane that was asked for is shown in it, and not the first one.
    await page.keyboard.press('Control+k');
    await page.locator('.palette input:focus').waitFor();
    await page.keyboard.type('agents');
    await page
      .getByRole('option', { name: /^Agents|^Show agents/ })
      .first()
      .waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.right.drawer [role=tab][aria-selected=true]:focus').getByText('Agents').waitFor();
    await done(page);
  });

  test('a control that goes away leaves the keys to what had them before', async () => {
    const page = await site.show({ recorded: 'tools' });
    await message(page).focus();
    await page.keyboard.press('Control+f');
    await page.locator('.find input:focus').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.composer textarea:focus').waitFor();
    await done(page);
  });

  test('a mention by the pane of files goes along, and does after the page came anew', async () => {
    const page = await site.show({ recorded: 'tools' });
    await page.getByRole('tab', { name: /^Files/ }).click();
    await page.getByRole('treeitem', { name: /Cargo\.toml/ }).click();
    await button(page, 'Mention in the message').click();
    assert.match(await message(page).inputValue(), /@Cargo\.toml/);
    await page.reload();
    // The session comes after the page, and its draft with it.
    await page.waitForFunction(() => document.querySelector('.composer textarea')?.value.includes('@Cargo.toml'));
    await message(page).press('Enter');
    await page.waitForFunction(() => window.recordedHost.calls.some(({ name }) => name === 'sendMessage'));
    const [sent] = await calls(page, 'sendMessage');
    assert.deepEqual(sent.mentions, [{ mention: 'path', path: '/Cargo.toml' }]);
    await done(page);
  });

  const DIALOGS = {
    settings: (page) => page.keyboard.press('Control+,'),
    'the palette': (page) => page.keyboard.press('Control+k'),
    'the inbox': (page) => page.getByRole('button', { name: /^Waiting for you/ }).click(),
    'the shortcut sheet': (page) => page.keyboard.press('Control+/'),
    'a link': (page) => page.getByRole('link').first().click(),
  };

  test('the palette finds commands, sessions and files', async () => {
    const page = await site.show();
    const find = async (words) => {
      await page.keyboard.press('Control+k');
      await page.locator('.palette input:focus').waitFor();
      await page.keyboard.type(words);
      await page.keyboard.press('Enter');
      await page.locator('.palette').waitFor({ state: 'detached' });
    };
    await page.keyboard.press('Control+k');
    await page.locator('.palette input:focus').waitFor();
    await page.keyboard.type('refresh.rs');
    await page.getByRole('option', { name: /^src\/auth\/refresh\.rs/ }).click();
    await page.getByRole('region', { name: 'Preview of src/auth/refresh.rs' }).waitFor();
    await find('fixtures');
    await page.getByRole('heading', { level: 1, name: 'Move fixtures to SQLite' }).waitFor();
    await page.keyboard.press('Control+1');
    await page.getByRole('heading', { level: 1, name: 'Token refresh fails after sleep' }).waitFor();
    await find('dark');
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    await done(page);
  });

  test('the size of the words is chosen and kept', async () => {
    const page = await site.show();
    await page.keyboard.press('Control+,');
    await page.getByRole('tab', { name: 'Appearance' }).click();
    await page.getByText('125%').click();
    const isLarger = () => page.waitForFunction(() => getComputedStyle(document.body).fontSize === '16.25px');
    await isLarger();
    await page.reload();
    await isLarger();
    await done(page);
  });

  test('Escape shuts every dialog, wherever the focus is, and stops nothing', async () => {
    const page = await site.show({ recorded: 'hostile' });
    for (const [name, ask] of Object.entries(DIALOGS)) {
      await ask(page);
      const dialog = page.locator('.dialog');
      await dialog.waitFor();
      // A press on what cannot hold the focus takes it out of the dialog.
      await page.evaluate(() => document.activeElement.blur());
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      assert.deepEqual(await calls(page, 'stopTurn'), [], `${name} took the key`);
    }
    await done(page);
  });

  test('where the data cannot be used, the start can be tried again', async () => {
    const page = await site.show({ recorded: 'locked' });
    await page.getByText('is locked by another program').waitFor();
    await button(page, 'Try again').click();
    await page.getByRole('heading', { level: 1, name: 'Token refresh fails after sleep' }).waitFor();
    await done(page);
  });

  test('a header of one’s own is added to a provider and taken away', async () => {
    const page = await site.show();
    await page.keyboard.press('Control+,');
    // The servers of this machine come later, and stand before the others.
    await page.locator('.settings article', { hasText: 'qwen3:8b' }).waitFor();
    const card = page.locator('.settings article', { has: page.locator('.head') }).first();
    await card.locator('.head').click();
    await card.getByText('Custom headers').click();
    assert.equal(await button(card, 'Add header').isDisabled(), true);
    await card.getByLabel('Name', { exact: true }).fill('X-Team');
    await card.getByLabel('Value', { exact: true }).fill('platform');
    await card.getByLabel('Value', { exact: true }).press('Enter');
    await button(card, 'Remove the header X-Team').click();
    await card.locator('li').waitFor({ state: 'detached' });
    assert.deepEqual(
      (await calls(page, 'setProviderHeader')).map(({ name }) => name),
      ['X-Team', 'X-Team'],
    );
    await done(page);
  });

  test('language and theme change at once and are kept', async () => {
    const page = await site.show({ theme: 'light' });
    await page.keyboard.press('Control+,');
    await page.getByRole('tab', { name: 'Appearance' }).click();
    await page.getByText('简体中文').click();
    await page.getByRole('heading', { name: '设置' }).waitFor();
    await page.getByText('深色', { exact: true }).click();
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'zh-CN');
    const kept = await calls(page, 'saveSettings');
    assert.deepEqual([kept.at(-1).theme, kept.at(-1).language], ['dark', 'zh-CN']);
    await done(page);
  });

  test('the first steps can be walked by keyboard, and a notice goes when a model is chosen', async () => {
    const page = await site.show({ recorded: 'nokey' });
    await page.getByText('Choose a model first').waitFor();
    await button(page, 'Add a key or a server…').click();
    await page.getByRole('button', { name: /^OpenAI/ }).click();
    await page.getByLabel('OpenAI: Key').fill('sk-secret');
    await page.keyboard.press('Enter');
    await page.getByText('key in the keyring').waitFor();
    // A test call is made by itself.
    await page.getByText(/^Works: .*640 ms$/).waitFor();
    await page.keyboard.press('Escape');
    // Which model works is the person's to choose, whichever was called.
    await page.getByRole('button', { name: /^Model: / }).click();
    await page.getByRole('option').first().click();
    await page.getByText('Choose a model first').waitFor({ state: 'detached' });
    assert.ok(!(await page.content()).includes('sk-secret'), 'a key never stays in the page');
    await done(page);
  });

  test('the first run leads to work, each step passable', async () => {
    const page = await site.show({ recorded: 'welcome' });
    await button(page, 'Continue').click();
    await page.getByText('A key was found: Anthropic (key from ANTHROPIC_API_KEY)').waitFor();
    const tour = await button(page, 'Take the tour').boundingBox();
    assert.ok(tour.y + tour.height <= 900);
    await button(page, 'Skip').click();
    await button(page, 'Choose a folder…').click();
    await page.getByText('~/picked').waitFor();
    await button(page, 'Start working').click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    assert.equal((await calls(page, 'saveSettings')).at(-1).welcomed, true);
    await done(page);
  });

  test('a model is found by typing, or named where it is not listed', async () => {
    const page = await site.show();
    await page.getByRole('button', { name: /^Model:/ }).click();
    await page.getByRole('option', { name: /claude-opus/ }).waitFor();
    await page.locator('.picker input:focus').waitFor();
    await page.keyboard.type('hai');
    await page.keyboard.press('Enter');
    await rest(page);
    await page.getByRole('button', { name: 'Model: claude-haiku' }).click();
    await page.locator('.picker input:focus').waitFor();
    await page.keyboard.type('claude-next');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Model: claude-next' }).waitFor();
    assert.deepEqual(
      (await calls(page, 'setSessionModel')).map((model) => model.name),
      ['claude-haiku', 'claude-next'],
    );
    await done(page);
  });

  test('panes become a drawer and then icons as the window narrows', async () => {
    const page = await site.show({}, { width: 860, height: 700 });
    assert.equal(await page.getByRole('tab', { name: /Plan/ }).count(), 0);
    await button(page, 'Show the side pane').click();
    await page.getByRole('tab', { name: /Plan/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: /Plan/ }).waitFor({ state: 'detached' });
    await page.setViewportSize({ width: 660, height: 700 });
    const width = () => page.locator('aside.left').evaluate((aside) => aside.getBoundingClientRect().width);
    await page.waitForFunction(() => document.querySelector('aside.left')?.classList.contains('rail'));
    assert.equal(await width(), 52);
    await button(page, 'Show sessions').click();
    await page.getByRole('navigation', { name: 'Sessions' }).waitFor();
    assert.equal(await width(), 248);
    assert.deepEqual(await calls(page, 'stopTurn'), []);
    await done(page);
  });

  test('in the least window an approval is read to its end before it is given', async () => {
    const page = await site.show({}, { width: 640, height: 480 });
    const card = page.getByRole('dialog', { name: /^Approval/ });
    const isInSight = async (name) => {
      const box = await button(card, name).boundingBox();
      return box.y + box.height <= 480;
    };
    assert.ok(await isInSight(/^Approve/));
    assert.ok(await isInSight(/^Reject/));
    assert.ok(await button(card, /^Approve/).isDisabled());
    await button(card, 'Show the end').click();
    await page.getByText('self.refresh().await').last().waitFor();
    await card.getByRole('button', { name: /^Approve/, disabled: false }).waitFor();
    await button(card, 'just this once').click();
    assert.ok(await isInSight(/^Reject/));
    const stop = await button(page, 'Stop').boundingBox();
    assert.ok(stop.y + stop.height <= 480);
    await done(page);
  });

  test('widths are moved with the keys and remembered per project', async () => {
    const page = await site.show();
    const line = page.getByRole('separator', { name: 'Resize the session list' });
    const wider = page.locator('[role=separator][aria-valuenow="264"]');
    await line.press('ArrowRight');
    await wider.waitFor();
    await page.reload();
    await wider.waitFor();
    await done(page);
  });

  test('motion is reduced where the system asks for it', async () => {
    const page = await site.show({ recorded: 'empty' }, { reducedMotion: 'reduce' });
    await page.keyboard.type('go');
    await page.keyboard.press('Enter');
    const pulse = page.locator('.pulse');
    await page.getByRole('article', { name: 'You' }).waitFor();
    const duration = (await pulse.count())
      ? await pulse.evaluate((dot) => getComputedStyle(dot).animationDuration)
      : '1e-05s';
    assert.equal(duration, '1e-05s');
    await done(page);
  });
});
